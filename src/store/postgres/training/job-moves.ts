/** Stores state transitions of training jobs, with their events. Transitions are serialized across processes. */
import { randomUUID } from 'node:crypto'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobEvent, Moved } from '../../../domain/training/training-moves.ts'
import * as EVENTS from '../../base/training/training-events.sql.ts'
import * as JOBS from '../../base/training/training-jobs.sql.ts'
import { SAVE_MOVED_JOB } from '../../base/training/training-queue.sql.ts'
import type { Postgres, Statements } from '../db/client.ts'
import { LOCK_QUEUE } from './training-queue.sql.ts'

/** The reads and writes of transitions, inside one transaction. */
export interface JobMoves {
  readonly tx: Statements
  find(id: string): Promise<TrainingJob | null>
  /** Queued and running jobs of a model in their order. */
  listUnfinished(model_id: string): Promise<TrainingJob[]>
  /**
   * Stores a job after a move, and its last event if it has ended.
   *
   * @param before - the job as read in the same transaction
   */
  save(before: TrainingJob, after: Moved, now_us: number): Promise<TrainingJob>
  /** Adds an event to a job's attempt, a training_started before the first of another type. */
  addEvent(
    job: TrainingJob,
    event: JobEvent & { readonly seq: number | null },
    now_us: number,
  ): Promise<void>
}

/** Runs transitions as one transaction that locks the queue. */
export function moveJobs<T>(db: Postgres, run: (moves: JobMoves) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.all(LOCK_QUEUE)
    return run(createJobMoves(tx))
  })
}

function createJobMoves(tx: Statements): JobMoves {
  async function insert(
    { id: job_id, attempt }: TrainingJob,
    { type, data, seq }: JobEvent & { readonly seq: number | null },
    created_at_us: number,
  ): Promise<void> {
    const event = { id: randomUUID(), type, seq, data_json: JSON.stringify(data) }
    await tx.run(EVENTS.INSERT_EVENT, { ...event, job_id, attempt, created_at_us })
  }

  const moves: JobMoves = {
    tx,
    async find(id) {
      return (await tx.first<TrainingJob>(JOBS.FIND_TRAINING_JOB, { id })) ?? null
    },
    listUnfinished: (model_id) => tx.all<TrainingJob>(JOBS.LIST_UNFINISHED_JOBS, { model_id }),
    async save(before, { job, event }, now_us) {
      const place = { state_before: before.state, attempt_before: before.attempt }
      const changed = await tx.run(SAVE_MOVED_JOB, { ...job, ...place })
      if (changed !== 1) throw new Error(`the job ${job.id} was changed by another request`)
      if (event) await moves.addEvent(job, { ...event, seq: null }, now_us)
      return job
    },
    async addEvent(job, event, now_us) {
      // Clients refuse a gradient step before the start. A failure needs none.
      const needsStart = event.type === 'gradient_step' || event.type === 'training_ended'
      const { id: job_id, attempt, trainable_count } = job
      const first = needsStart && (await tx.first(EVENTS.FIND_FIRST_EVENT, { job_id, attempt }))
      if (first === undefined) {
        const data = { num_sequences: trainable_count }
        await insert(job, { type: 'training_started', data, seq: null }, now_us)
      }
      await insert(job, event, now_us)
    },
  }
  return moves
}
