/** Reads that all parts of the training queue share, inside transactions and outside. */
import type { StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { requireLease } from '../../../domain/training/training-moves.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { Lease } from '../../api/training/training-queue.ts'
import { type StoredCheckpointRow, toStoredCheckpoint } from '../../base/models/checkpoint-rows.ts'
import * as CHECKPOINTS from '../../base/models/checkpoints.sql.ts'
import { FIND_ANY_PREVIEW_MODEL } from '../../base/models/preview-models.sql.ts'
import { FIND_TRAINING_JOB } from '../../base/training/training-jobs.sql.ts'
import type { Connection } from '../db/connection.ts'

export interface QueueRows {
  /** Returns a checkpoint, deleted or not. */
  findCheckpoint(id: string | null): StoredCheckpoint | null
  /** Returns the newest checkpoint that is not deleted. */
  findLatest(model_id: string): StoredCheckpoint | null
  /** Returns a model, deleted or not. */
  findModel(id: string): PreviewModel
  /** Returns the job under a lease. @throws ApiError lease_lost */
  requireLeased(lease: Lease): TrainingJob
}

export function createQueueRows(db: Connection): QueueRows {
  const findJob = db.prepare(FIND_TRAINING_JOB)
  const findCheckpoint = db.prepare(CHECKPOINTS.FIND_CHECKPOINT)
  const findLatest = db.prepare(CHECKPOINTS.FIND_LATEST_STEP)
  const findModel = db.prepare(FIND_ANY_PREVIEW_MODEL)
  return {
    findCheckpoint: (id) => (id === null ? null : toCheckpoint(findCheckpoint.get({ id }))),
    findLatest: (model_id) => toCheckpoint(findLatest.get({ model_id })),
    findModel: (id) => findModel.get({ id }) as PreviewModel,
    requireLeased({ job_id, token_hash, now_us }) {
      const job = findJob.get({ id: job_id }) as TrainingJob | undefined
      if (job === undefined) throw leaseLost()
      requireLease(job, token_hash, now_us)
      return job
    },
  }
}

function toCheckpoint(row: unknown): StoredCheckpoint | null {
  return row === undefined ? null : toStoredCheckpoint(row as StoredCheckpointRow)
}
