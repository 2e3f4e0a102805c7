/** The read jobs behind lists of calls: which calls, in which order, and how many. They read only bodies they need. */
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { createCallsSort } from '../../../../domain/calls/calls-sort.ts'
import type { CallsCount } from '../../../api/calls/calls.ts'
import type { Connection } from '../../db/connection.ts'
import type { Checkpoint, ReadJob } from '../../read/read-job.ts'
import { walkMatching } from './calls-matching.ts'
import { countCalls } from './calls-query.sql.ts'
import {
  type BoundedSelection,
  beginWalk,
  type CallsPosition,
  cutTime,
  type FoundKey,
  findLatencyBound,
  NO_MORE,
  toClause,
  walkKeys,
} from './calls-walk.ts'

/** Limit: keys of one batch, at 8 bytes each. */
const BATCH_KEYS = 50_000

/** The position from which a list resumes. Plain data. */
export interface CallsCursor extends CallsPosition {
  /** The number of calls that the list has passed, including those before its offset. */
  readonly passed: number
}

interface CallsBatchQuery {
  readonly selection: CallsSelection
  /** Null for the first batch. */
  readonly cursor: CallsCursor | null
  /** Keys of one batch; default BATCH_KEYS. */
  readonly batchKeys?: number
}

export interface CallsBatch {
  readonly keys: Float64Array
  /** Null at the end of the list. */
  readonly next: CallsCursor | null
}

/** Returns the keys of the next calls of a selection, in its order. @throws ApiError validation_failed for too many */
export const selectCalls: ReadJob<CallsBatchQuery, CallsBatch> = (db, query, checkpoint) =>
  query.selection.sort.length === 0
    ? listKeys(db, query, checkpoint)
    : sortKeys(db, query.selection, checkpoint)

/** Counts the calls of a selection, up to its limit. */
export const countSelected: ReadJob<CallsSelection, CallsCount> = (db, selection, checkpoint) =>
  selection.expression === null
    ? countFound(db, selection, checkpoint)
    : countMatching(db, selection, checkpoint)

function* listKeys(
  db: Connection,
  { selection, cursor, batchKeys = BATCH_KEYS }: CallsBatchQuery,
  checkpoint: Checkpoint,
): Generator<void, CallsBatch> {
  const { expression, offset, limit } = selection
  const place = cursor ?? beginWalk(db)
  const keys: number[] = []
  let passed = cursor?.passed ?? 0
  let next: CallsCursor | null = null

  /** Adds a key; returns false when the batch or the list is complete. */
  function add(call_key: number, after_us: number, after_id: string): boolean {
    if (passed >= offset + limit) return false
    passed += 1
    if (passed > offset) keys.push(call_key)
    if (passed >= offset + limit) return false
    if (keys.length < batchKeys) return true
    next = { after_us, after_id, max_key: place.max_key, passed }
    return false
  }

  if (expression === null) {
    const take = function* (found: readonly FoundKey[]) {
      return found.every(([key, us, id]) => add(key, us, id))
    }
    // At least one, which ends even a list with limit 0.
    const callsMax = Math.max(1, offset + limit - passed)
    yield* walkKeys(db, selection, place, checkpoint, take, { ...NO_MORE, callsMax })
  } else {
    yield* walkMatching(db, selection, place, checkpoint, ({ key: [key, us, id] }) =>
      add(key, us, id),
    )
  }
  return { keys: Float64Array.from(keys), next }
}

function* sortKeys(
  db: Connection,
  selection: CallsSelection,
  checkpoint: Checkpoint,
): Generator<void, CallsBatch> {
  const place = beginWalk(db)
  const latencyBound = yield* findLatencyBound(db, selection, place, checkpoint)
  const bounded = yield* sortWithin(db, { ...selection, latencyBound }, place, checkpoint)
  // Calls within the bound may have been deleted since.
  const isShort = latencyBound !== null && bounded.count() < selection.offset + selection.limit
  const sorted = isShort ? yield* sortWithin(db, selection, place, checkpoint) : bounded
  return { keys: Float64Array.from(sorted.keys()), next: null }
}

function* sortWithin(
  db: Connection,
  selection: BoundedSelection,
  place: CallsPosition,
  checkpoint: Checkpoint,
) {
  const sorted = createCallsSort<number>(selection)
  yield* walkMatching(db, selection, place, checkpoint, ({ seen, key: [key] }) =>
    sorted.add(key, seen),
  )
  return sorted
}

function* countFound(
  db: Connection,
  selection: CallsSelection,
  checkpoint: Checkpoint,
): Generator<void, CallsCount> {
  const place = beginWalk(db)
  const { conditions, parameters } = toClause(db, selection, place)
  const countPart = db.prepare(countCalls(conditions, Number.isFinite(selection.limit)))
  let [count, storage_size_bytes] = [0, 0]
  for (const { from: from_us, to: to_us } of cutTime(db, conditions, selection, place)) {
    const limit = toSqlLimit(selection.limit - count)
    const part = countPart.get({ ...parameters, from_us, to_us, limit }) as CallsCount
    count += part.count
    storage_size_bytes += part.storage_size_bytes
    if (count >= selection.limit) break
    if (checkpoint()) yield
  }
  return { count, storage_size_bytes }
}

function* countMatching(
  db: Connection,
  selection: CallsSelection,
  checkpoint: Checkpoint,
): Generator<void, CallsCount> {
  const { limit } = selection
  let [count, storage_size_bytes] = [0, 0]
  if (limit === 0) return { count, storage_size_bytes }
  yield* walkMatching(db, selection, beginWalk(db), checkpoint, (call) => {
    storage_size_bytes += call.storage_size_bytes
    count += 1
    return count < limit
  })
  return { count, storage_size_bytes }
}

/** SQLite treats a negative limit as none. */
function toSqlLimit(limit: number): number {
  return Number.isFinite(limit) ? limit : -1
}
