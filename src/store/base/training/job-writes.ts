/** The writes of training jobs that clients request, in SQLite and PostgreSQL alike. */
import {
  type NewTrainingJob,
  requireSameJob,
  type TrainingJob,
} from '../../../domain/training/training-job.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import { first, run, type Steps } from '../db/steps.ts'
import { FIND_PREVIEW_MODEL } from '../models/preview-models.sql.ts'
import type { JobMoves } from './job-moves.ts'
import { findJob } from './job-steps.ts'
import * as SQL from './training-jobs.sql.ts'

type NewJobRow = NewTrainingJob &
  Pick<TrainingJob, 'payload_path' | 'payload_sha256' | 'payload_bytes'>

interface JobCancel {
  readonly id: string
  readonly now_us: number
}

export function createJobWrites(moves: JobMoves) {
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
