/** The writes of training jobs that clients request. */
import {
  type NewTrainingJob,
  requireSameJob,
  type TrainingJob,
} from '../../../domain/training/training-job.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import { FIND_PREVIEW_MODEL } from '../../base/models/preview-models.sql.ts'
import * as SQL from '../../base/training/training-jobs.sql.ts'
import type { Connection } from '../db/connection.ts'
import type { JobMoves } from './job-moves.ts'

type NewJobRow = NewTrainingJob &
  Pick<TrainingJob, 'payload_path' | 'payload_sha256' | 'payload_bytes'>

interface JobCancel {
  readonly id: string
  readonly now_us: number
}

export function createTrainingWrites(db: Connection, moves: JobMoves) {
  const insertJob = db.prepare(SQL.INSERT_TRAINING_JOB)
  const findByKey = db.prepare(SQL.FIND_TRAINING_JOB_BY_IDEMPOTENCY_KEY)
  const findModel = db.prepare(FIND_PREVIEW_MODEL)

  return {
    /** Inserts a job; for a repeated request, returns the first one. */
    insert_job(row: NewJobRow): TrainingJob {
      const { model_id, idempotency_key } = row
      // The model was deleted since the request was checked.
      if (findModel.get({ id: model_id }) === undefined) throw new ApiError('model_not_found')
      const isNew = insertJob.run(row).changes === 1
      if (isNew) return moves.find(row.id) as TrainingJob
      return requireSameJob(findByKey.get({ model_id, idempotency_key }) as TrainingJob, row)
    },
    cancel_job({ id, now_us }: JobCancel): void {
      const job = moves.find(id)
      if (job === null) throw new ApiError('training_job_not_found')
      moves.save(job, cancelJob(job, 'The job was cancelled.', now_us), now_us)
    },
  }
}
