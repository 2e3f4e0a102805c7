/** All writes of training and of its models, which SQLite and PostgreSQL run each in one transaction. */
import {
  type NewTrainingJob,
  requireSameJob,
  type TrainingJob,
} from '../../../domain/training/training-job.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import { first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { createModelWrites } from '../models/model-writes.ts'
import { FIND_PREVIEW_MODEL } from '../models/preview-models.sql.ts'
import { createJobMoves, type JobMoves, type JobNotifier } from './job-moves.ts'
import { findJob } from './job-steps.ts'
import { createClaimWrites, createCompletionWrites, createLeaseWrites } from './queue-writes.ts'
import * as SQL from './training-jobs.sql.ts'
import type { QueueStatements } from './training-queue.sql.ts'

/** @param newId - returns ids for events */
export function createTrainingWrites(newId: () => string, statements: QueueStatements) {
  const moves = createJobMoves(newId)
  return {
    ...createModelWrites(moves),
    ...createJobWrites(moves),
    ...createClaimWrites(moves, statements),
    ...createLeaseWrites(moves),
    ...createCompletionWrites(moves),
  }
}

export type TrainingWrites = ReturnType<typeof createTrainingWrites>

/** The parts that the stores of training share. */
export interface TrainingParts {
  readonly runs: StepRuns<TrainingWrites>
  readonly notifier: JobNotifier
  /** Removes those weights that no checkpoint and no running job needs. Never fails: leftovers are removed later. */
  removeUnused(paths: readonly (string | null)[]): Promise<void>
}

type NewJobRow = NewTrainingJob &
  Pick<TrainingJob, 'payload_path' | 'payload_sha256' | 'payload_bytes'>

interface JobCancel {
  readonly id: string
  readonly now_us: number
}

function createJobWrites(moves: JobMoves) {
  return {
    /** Inserts a job; for a repeated request, returns the first one. */
    *insert_job(row: NewJobRow): Steps<TrainingJob> {
      const { model_id, idempotency_key } = row
      // The model was deleted since the request was checked.
      const model = yield* first(FIND_PREVIEW_MODEL, { id: model_id })
      if (model === undefined) throw new ApiError('model_not_found')
      const isNew = (yield* run(SQL.INSERT_TRAINING_JOB, row)) === 1
      if (isNew) return (yield* findJob(row.id)) as TrainingJob
      const key = { model_id, idempotency_key }
      const known = yield* first<TrainingJob>(SQL.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY, key)
      return requireSameJob(known as TrainingJob, row)
    },
    *cancel_job({ id, now_us }: JobCancel): Steps<void> {
      const job = yield* findJob(id)
      if (job === null) throw new ApiError('training_job_not_found')
      yield* moves.save(job, cancelJob(job, 'The job was cancelled.', now_us), now_us)
    },
  }
}
