/** Checkpoints in PostgreSQL, their weights in chunks. */
import { renderJson } from '../../../domain/json/json-text.ts'
import { ApiError } from '../../../errors.ts'
import type { CheckpointListing, CheckpointStore } from '../../api/models/checkpoints.ts'
import { type CheckpointRow, toCheckpoint } from '../../base/models/checkpoint-rows.ts'
import * as SQL from '../../base/models/checkpoints.sql.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { moveJobs } from '../training/job-moves.ts'
import { findLatest, readCheckpoint } from '../training/queue-rows.ts'
import { RAISE_LAST_STEP } from './preview-models.sql.ts'

/** Steps before the first and after the last. */
const BEFORE_ALL = { asc: -1, desc: 2 ** 31 - 1 } as const

export function createCheckpointStore(db: Postgres, blobs: Blobs): CheckpointStore {
  async function stepOfCursor({ model_id, after, order }: CheckpointListing): Promise<number> {
    if (after === null) return BEFORE_ALL[order]
    const key = { model_id, id: after }
    const cursor = await db.first<{ step: number }>(SQL.FIND_CHECKPOINT_STEP, key)
    if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
    return cursor.step
  }

  return {
    insertCheckpoint: ({ metrics, ...row }) =>
      moveJobs(db, async ({ tx }) => {
        await tx.run(SQL.INSERT_CHECKPOINT, { ...row, metrics_json: renderJson(metrics) })
        await tx.run(RAISE_LAST_STEP, { ...row })
      }),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const paths: (string | null)[] = []
      const not_found_steps: number[] = []
      const deleted_count = await db.transaction(async (tx) => {
        // Both lists are those of this try.
        paths.length = 0
        not_found_steps.length = 0
        for (const step of new Set(steps)) {
          const hidden = await tx.first<{ artifact_path: string | null }>(SQL.DELETE_STEP, {
            model_id,
            step,
            deleted_at_us,
          })
          if (hidden === undefined) not_found_steps.push(step)
          else paths.push(hidden.artifact_path)
        }
        return paths.length
      })
      await blobs.removeUnused(paths)
      return { deleted_count, not_found_steps }
    },
    async listCheckpoints(listing) {
      const { model_id, order, count } = listing
      const after_step = await stepOfCursor(listing)
      const sql = order === 'asc' ? SQL.LIST_CHECKPOINTS_ASC : SQL.LIST_CHECKPOINTS_DESC
      const rows = await db.all<CheckpointRow>(sql, { model_id, after_step, count })
      return rows.map(toCheckpoint)
    },
    findCheckpoint: (model_id, step) =>
      step === 'latest'
        ? findLatest(db, model_id)
        : readCheckpoint(db, SQL.FIND_STEP, { model_id, step }),
    async openArtifact({ path, bytes }) {
      const artifact = await blobs.open(path, bytes)
      if (artifact === null) throw new ApiError('checkpoint_not_found')
      return artifact
    },
  }
}
