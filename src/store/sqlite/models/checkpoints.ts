/** Checkpoints in SQLite, with weights in files. */

import { ApiError } from '../../../errors.ts'
import type { CheckpointListing, CheckpointStore } from '../../api/models/checkpoints.ts'
import {
  type CheckpointRow,
  type StoredCheckpointRow,
  toCheckpoint,
  toStoredCheckpoint,
} from '../../base/models/checkpoint-rows.ts'
import * as SQL from '../../base/models/checkpoints.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'

/** Cursors before the first and after the last step. */
const BEFORE_ALL = { asc: -1, desc: Number.MAX_SAFE_INTEGER } as const

/** @param db - for reads on this thread */
export function createCheckpointStore(
  db: Connection,
  writes: Writes,
  artifacts: CheckpointArtifacts,
): CheckpointStore {
  const findCursor = db.prepare(SQL.FIND_CHECKPOINT_STEP)
  const findStep = db.prepare(SQL.FIND_STEP)
  const findLatest = db.prepare(SQL.FIND_LATEST_STEP)
  const list = {
    asc: db.prepare(SQL.LIST_CHECKPOINTS_ASC),
    desc: db.prepare(SQL.LIST_CHECKPOINTS_DESC),
  }

  function stepOfCursor({ model_id, after, order }: CheckpointListing): number {
    if (after === null) return BEFORE_ALL[order]
    const cursor = findCursor.get({ model_id, id: after }) as { step: number } | undefined
    if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
    return cursor.step
  }

  return {
    insertCheckpoint: (checkpoint) => writes.run('insert_checkpoint', checkpoint),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const { paths, ...deleted } = await writes.run('delete_steps', {
        model_id,
        steps,
        deleted_at_us,
      })
      await artifacts.removeUnused(paths)
      return deleted
    },
    async listCheckpoints(listing) {
      const { model_id, order, count } = listing
      return orStoreError(() => {
        const after_step = stepOfCursor(listing)
        const rows = list[order].all({ model_id, after_step, count }) as CheckpointRow[]
        return rows.map(toCheckpoint)
      })
    },
    async findCheckpoint(model_id, step) {
      return orStoreError(() => {
        const row =
          step === 'latest' ? findLatest.get({ model_id }) : findStep.get({ model_id, step })
        return row === undefined ? null : toStoredCheckpoint(row as StoredCheckpointRow)
      })
    },
    async openArtifact({ path }) {
      try {
        return await artifacts.folder.openReader(path)
      } catch (cause) {
        // A file that is there and cannot be opened is a fault of the disk or of the process.
        if (await artifacts.folder.has(path)) {
          throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
        }
        throw new ApiError('checkpoint_not_found', { cause })
      }
    },
  }
}
