/** Stores the results of state transitions of training jobs, with their events, and notifies listeners, in SQLite and PostgreSQL alike. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { cancelJob, type JobEvent, type Moved } from '../../../domain/training/training-moves.ts'
import { all, first, run, type Steps } from '../db/steps.ts'
import * as EVENTS from './training-jobs.sql.ts'
import { SAVE_MOVED_JOB } from './training-queue.sql.ts'

type NumberedEvent = JobEvent & { readonly seq: number | null }

/** Each runs inside the caller's transaction. */
export interface JobMoves {
  /**
   * Stores a job after a transition, and its last event if it has ended.
   *
   * @param before - the job as it was read in the same transaction
   */
  save(before: TrainingJob, after: Moved, now_us: number): Steps<TrainingJob>
  /** Adds an event to a job's attempt, preceded by training_started if needed. */
  addEvent(job: TrainingJob, event: NumberedEvent, now_us: number): Steps<void>
  /** Cancels the queued jobs of a model, and asks a running one to stop. */
  cancelAll(model_id: string, message: string, now_us: number): Steps<void>
}

/** @param newId - returns ids for events */
export function createJobMoves(newId: () => string): JobMoves {
  function* insert(job: TrainingJob, { type, data, seq }: NumberedEvent, created_at_us: number) {
    const { id: job_id, attempt } = job
    const event = { id: newId(), type, seq, data_json: JSON.stringify(data) }
    yield* run(EVENTS.INSERT_EVENT, { ...event, job_id, attempt, created_at_us })
  }

  const moves: JobMoves = {
    *save(before, { job, event }, now_us) {
      const place = { state_before: before.state, attempt_before: before.attempt }
      const changed = yield* run(SAVE_MOVED_JOB, { ...job, ...place })
      if (changed !== 1) throw new Error(`the job ${job.id} was changed by another request`)
      if (event) yield* moves.addEvent(job, { ...event, seq: null }, now_us)
      return job
    },
    *addEvent(job, event, now_us) {
      // Clients reject a gradient step before training_started. A failure needs no start.
      const needsStart = event.type === 'gradient_step' || event.type === 'training_ended'
      const { id: job_id, attempt, trainable_count } = job
      if (needsStart && !(yield* first(EVENTS.FIND_FIRST_EVENT, { job_id, attempt }))) {
        const data = { num_sequences: trainable_count }
        yield* insert(job, { type: 'training_started', data, seq: null }, now_us)
      }
      yield* insert(job, event, now_us)
    },
    *cancelAll(model_id, message, now_us) {
      for (const job of yield* all<TrainingJob>(EVENTS.LIST_UNFINISHED_JOBS, { model_id })) {
        yield* moves.save(job, cancelJob(job, message, now_us), now_us)
      }
    },
  }
  return moves
}

export interface JobNotifier {
  /** Calls all listeners. Must be called after the commit. */
  notify(): void
  /** @returns a function that removes the listener */
  listen(listener: () => void): () => void
}

export function createJobNotifier(): JobNotifier {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
