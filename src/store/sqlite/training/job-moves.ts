/** Stores the results of state transitions of training jobs, with their events, inside the caller's transaction. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import type { JobEvent, Moved } from '../../../domain/training/training-moves.ts'
import * as EVENTS from '../../base/training/training-events.sql.ts'
import * as JOBS from '../../base/training/training-jobs.sql.ts'
import * as QUEUE from '../../base/training/training-queue.sql.ts'
import type { Connection } from '../db/connection.ts'

export interface JobMoves {
  find(id: string): TrainingJob | null
  /** Returns the queued and running jobs of a model, in order. */
  listUnfinished(model_id: string): TrainingJob[]
  /**
   * Stores a job after a transition, and its last event if it has ended.
   *
   * @param before - the job as it was read in the same transaction
   */
  save(before: TrainingJob, after: Moved, now_us: number): TrainingJob
  /** Adds an event to a job's attempt, preceded by training_started if needed. */
  addEvent(
    job: TrainingJob,
    event: JobEvent & { readonly seq: number | null },
    now_us: number,
  ): void
}

/** @param newId - returns ids for events */
export function createJobMoves(db: Connection, newId: () => string): JobMoves {
  const findJob = db.prepare(JOBS.FIND_TRAINING_JOB)
  const listUnfinished = db.prepare(JOBS.LIST_UNFINISHED_JOBS)
  const saveJob = db.prepare(QUEUE.SAVE_MOVED_JOB)
  const insertEvent = db.prepare(EVENTS.INSERT_EVENT)
  const findFirstEvent = db.prepare(EVENTS.FIND_FIRST_EVENT)

  function insert(
    { id: job_id, attempt }: TrainingJob,
    { type, data, seq }: JobEvent & { readonly seq: number | null },
    now_us: number,
  ): void {
    const data_json = JSON.stringify(data)
    insertEvent.run({ id: newId(), job_id, attempt, seq, type, data_json, created_at_us: now_us })
  }

  const moves: JobMoves = {
    find: (id) => (findJob.get({ id }) as TrainingJob | undefined) ?? null,
    listUnfinished: (model_id) => listUnfinished.all({ model_id }) as TrainingJob[],
    save(before, { job, event }, now_us) {
      const { changes } = saveJob.run({
        ...job,
        state_before: before.state,
        attempt_before: before.attempt,
      })
      if (changes !== 1) throw new Error(`the job ${job.id} was changed by another request`)
      if (event) moves.addEvent(job, { ...event, seq: null }, now_us)
      return job
    },
    addEvent(job, event, now_us) {
      // Clients reject a gradient step before training_started. A failure needs no start.
      const needsStart = event.type === 'gradient_step' || event.type === 'training_ended'
      const { id: job_id, attempt, trainable_count } = job
      if (needsStart && findFirstEvent.get({ job_id, attempt }) === undefined) {
        const data = { num_sequences: trainable_count }
        insert(job, { type: 'training_started', data, seq: null }, now_us)
      }
      insert(job, event, now_us)
    },
  }
  return moves
}
