/** Reads shared by all parts of the training queue, inside and outside of transactions. */
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
import type { Statements } from '../db/client.ts'

type Db = Pick<Statements, 'first'>

/** A checkpoint, deleted or not. */
export async function findCheckpoint(db: Db, id: string | null): Promise<StoredCheckpoint | null> {
  return id === null ? null : readCheckpoint(db, CHECKPOINTS.FIND_CHECKPOINT, { id })
}

/** The newest checkpoint of a model that is not deleted. */
export function findLatest(db: Db, model_id: string): Promise<StoredCheckpoint | null> {
  return readCheckpoint(db, CHECKPOINTS.FIND_LATEST_STEP, { model_id })
}

/** A checkpoint that a statement finds, or null. */
export async function readCheckpoint(db: Db, sql: string, parameters: Record<string, unknown>) {
  const row = await db.first<StoredCheckpointRow>(sql, parameters)
  return row === undefined ? null : toStoredCheckpoint(row)
}

/** A model, deleted or not. */
export async function findModel(db: Db, id: string): Promise<PreviewModel> {
  return (await db.first<PreviewModel>(FIND_ANY_PREVIEW_MODEL, { id })) as PreviewModel
}

/** The job under a lease. @throws ApiError lease_lost */
export async function requireLeased(
  db: Db,
  { job_id, token_hash, now_us }: Lease,
): Promise<TrainingJob> {
  const job = await db.first<TrainingJob>(FIND_TRAINING_JOB, { id: job_id })
  if (job === undefined) throw leaseLost()
  requireLease(job, token_hash, now_us)
  return job
}
