/** Checkpoints in SQLite. */
import type { Checkpoint } from '../../domain/checkpoint.ts'
import { parseLossless, renderJson } from '../../domain/json-text.ts'
import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { CheckpointListing, CheckpointStore } from '../api/checkpoints.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import * as SQL from './sql/checkpoints.ts'
import { toStoreError } from './store-error.ts'

/** Steps before the first and behind the last. */
const BEFORE_ALL = { asc: -1, desc: Number.MAX_SAFE_INTEGER } as const

interface CheckpointRow extends Omit<Checkpoint, 'metrics'> {
  readonly metrics_json: string
}

export function createCheckpointStore(db: Connection, commit: GroupCommit): CheckpointStore {
  const insertCheckpoint = db.prepare(SQL.INSERT_CHECKPOINT)
  const deleteCheckpoint = db.prepare(SQL.DELETE_CHECKPOINT)
  const findStep = db.prepare(SQL.FIND_CHECKPOINT_STEP)
  const list = {
    asc: db.prepare(SQL.LIST_CHECKPOINTS_ASC),
    desc: db.prepare(SQL.LIST_CHECKPOINTS_DESC),
  }

  function stepOfCursor({ model_id, after, order }: CheckpointListing): number {
    if (after === null) return BEFORE_ALL[order]
    const cursor = findStep.get({ model_id, id: after }) as { step: number } | undefined
    if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
    return cursor.step
  }

  return {
    insertCheckpoint: ({ metrics, ...row }) =>
      commit.write(() => {
        insertCheckpoint.run({ ...row, metrics_json: renderJson(metrics) })
      }),
    deleteCheckpoint: (model_id, id, deleted_at_us) =>
      commit.write(() => deleteCheckpoint.run({ model_id, id, deleted_at_us }).changes === 1),
    async listCheckpoints(listing) {
      const { model_id, order, count } = listing
      try {
        const after_step = stepOfCursor(listing)
        const rows = list[order].all({ model_id, after_step, count }) as CheckpointRow[]
        return rows.map(toCheckpoint)
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}

function toCheckpoint({ metrics_json, ...row }: CheckpointRow): Checkpoint {
  return { ...row, metrics: parseLossless(metrics_json) as JsonObject }
}
