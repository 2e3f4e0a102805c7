/** Reads of checkpoints in SQLite and PostgreSQL alike. */
import type { Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import { ApiError } from '../../../errors.ts'
import type { CheckpointListing } from '../../api/models/checkpoints.ts'
import { all, first, type Steps } from '../db/steps.ts'
import {
  type CheckpointRow,
  type StoredCheckpointRow,
  toCheckpoint,
  toStoredCheckpoint,
} from './checkpoint-rows.ts'
import * as SQL from './checkpoints.sql.ts'

/** Cursors before the first and after the last step. */
const BEFORE_ALL = { asc: -1, desc: Number.MAX_SAFE_INTEGER } as const

/** Returns a checkpoint, deleted or not. */
export function* findCheckpoint(id: string | null): Steps<StoredCheckpoint | null> {
  return id === null ? null : yield* find(SQL.FIND_CHECKPOINT, { id })
}

/** Returns a checkpoint that is not deleted. @param step - 'latest': the one of the highest step */
export function findStep(
  model_id: string,
  step: number | 'latest',
): Steps<StoredCheckpoint | null> {
  return step === 'latest'
    ? find(SQL.FIND_LATEST_STEP, { model_id })
    : find(SQL.FIND_STEP, { model_id, step })
}

function* find(sql: string, parameters: object): Steps<StoredCheckpoint | null> {
  const row = yield* first<StoredCheckpointRow>(sql, parameters)
  return row === undefined ? null : toStoredCheckpoint(row)
}

/** See the contract. */
export function* listCheckpoints(listing: CheckpointListing): Steps<Checkpoint[]> {
  const { model_id, order, count } = listing
  const after_step = yield* stepOfCursor(listing)
  const place = { model_id, after_step, count }
  const rows = yield* all<CheckpointRow>(SQL.selectCheckpoints(order), place)
  return rows.map(toCheckpoint)
}

function* stepOfCursor({ model_id, after, order }: CheckpointListing): Steps<number> {
  if (after === null) return BEFORE_ALL[order]
  const key = { model_id, id: after }
  const cursor = yield* first<{ step: number }>(SQL.FIND_CHECKPOINT_STEP, key)
  if (cursor === undefined) throw new ApiError('checkpoint_not_found', { param: 'after' })
  return cursor.step
}
