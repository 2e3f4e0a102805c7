/** What all parts of the training queue read, and what they leave behind. */
import type { StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { requireLease } from '../../../domain/training/training-moves.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { Lease } from '../../api/training-queue.ts'
import type { Connection } from '../db/connection.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import * as CHECKPOINTS from '../models/checkpoints.sql.ts'
import { type StoredCheckpointRow, toStoredCheckpoint } from '../models/checkpoints.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import type { JobMoves } from './job-moves.ts'
import * as SQL from './training-queue.sql.ts'

export interface QueueParts {
  readonly db: Connection
  readonly commit: GroupCommit
  readonly moves: JobMoves
  readonly artifacts: CheckpointArtifacts
  /** Ids of events that the server adds. */
  newId(): string
}

export interface QueueRows {
  /** A checkpoint, deleted or not. */
  findCheckpoint(id: string | null): StoredCheckpoint | null
  /** The newest checkpoint that is not deleted. */
  findLatest(model_id: string): StoredCheckpoint | null
  /** A model, deleted or not. */
  findModel(id: string): PreviewModel
  /** The job under a lease. @throws ApiError lease_lost */
  requireLeased(lease: Lease): TrainingJob
  /**
   * After the commit of attempts that ended: tells waiting workers, and removes staged files and hidden
   * parents that nothing needs any more.
   *
   * @param ended - the jobs as they were before
   */
  cleanUp(ended: readonly TrainingJob[]): Promise<void>
}

export function createQueueRows({ db, moves, artifacts }: QueueParts): QueueRows {
  const findCheckpoint = db.prepare(CHECKPOINTS.FIND_CHECKPOINT)
  const findLatest = db.prepare(CHECKPOINTS.FIND_LATEST_STEP)
  const findModel = db.prepare(SQL.FIND_MODEL_OF_JOB)

  const rows: QueueRows = {
    findCheckpoint: (id) => (id === null ? null : toCheckpoint(findCheckpoint.get({ id }))),
    findLatest: (model_id) => toCheckpoint(findLatest.get({ model_id })),
    findModel: (id) => findModel.get({ id }) as PreviewModel,
    requireLeased({ job_id, token_hash, now_us }) {
      const job = moves.find(job_id)
      if (job === null) throw leaseLost()
      requireLease(job, token_hash, now_us)
      return job
    },
    async cleanUp(ended) {
      if (ended.length === 0) return
      moves.ring()
      for (const { staged_path, parent_checkpoint_id } of ended) {
        const parent = rows.findCheckpoint(parent_checkpoint_id)
        await artifacts.removeUnused([staged_path, parent?.artifact?.path ?? null])
      }
    },
  }
  return rows
}

function toCheckpoint(row: unknown): StoredCheckpoint | null {
  return row === undefined ? null : toStoredCheckpoint(row as StoredCheckpointRow)
}
