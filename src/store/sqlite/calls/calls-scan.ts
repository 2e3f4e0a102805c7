/** The read jobs behind lists of calls: which calls, in which order, and how many. They read no body in vain. */
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import {
  BODIES,
  type Body,
  type CallsSelection,
  callField,
  type ScannedCall,
} from '../../../domain/calls/calls-query.ts'
import { fieldPaths } from '../../../domain/query/query-expression.ts'
import { createRowSelection, type RowQuery } from '../../../domain/query/row-query.ts'
import { ApiError } from '../../../errors.ts'
import type { CallsCount } from '../../api/calls-query.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-jobs.ts'
import { toFilterClause } from './calls-filter.ts'
import { countCalls, scanCalls, selectCallKeys } from './calls-query.sql.ts'

/** Limit: calls of one list, at 8 bytes each. */
const KEYS_MAX = 5_000_000
/** Limit: calls of one list that has to be sorted, at some 200 bytes each. */
const SORTED_MAX = 500_000
/** Limit: rows between two looks at whether somebody still waits. */
const CHECKPOINT_ROWS = 1024

type ScannedRow = CallTexts & { readonly call_key: number }

/** Keys of the calls of a selection, in its order. @throws ApiError validation_failed for too many */
export const selectCalls: ReadJob<CallsSelection, Float64Array> = (db, selection, checkpoint) => {
  const isPlain = selection.expression === null && selection.sort.length === 0
  return isPlain ? readKeys(db, selection, checkpoint) : pickKeys(db, selection, checkpoint)
}

/** How many calls a selection holds, up to its limit. */
export const countSelected: ReadJob<CallsSelection, CallsCount> = (db, selection, checkpoint) => {
  const { limit, expression } = selection
  if (expression !== null) return countScanned(db, selection, checkpoint)
  const { conditions, parameters } = toClause(selection)
  const bound = { limit: toSqlLimit(limit), ...parameters }
  return db.prepare(countCalls(conditions)).get(bound) as CallsCount
}

function readKeys(db: Connection, selection: CallsSelection, checkpoint: () => void): Float64Array {
  const { direction, limit, offset } = selection
  const { conditions, parameters } = toClause(selection)
  const keys: number[] = []
  const rows = db
    .prepare(selectCallKeys(conditions, direction))
    .pluck()
    .iterate({ limit: toSqlLimit(limit), offset, ...parameters })
  for (const key of rows as IterableIterator<number>) {
    keys.push(key)
    if (keys.length > KEYS_MAX) throw tooMany(KEYS_MAX)
    if (keys.length % CHECKPOINT_ROWS === 0) checkpoint()
  }
  return Float64Array.from(keys)
}

/** A call that may be kept; its texts are let go as soon as it was looked at. */
interface Candidate {
  readonly key: number
  seen: ScannedCall | null
}

function pickKeys(db: Connection, selection: CallsSelection, checkpoint: () => void): Float64Array {
  const { expression, sort, offset, limit } = selection
  const isSorted = sort.length > 0
  const max = isSorted ? SORTED_MAX : KEYS_MAX
  const isBounded = offset + limit <= max
  const rows: RowQuery = {
    ...{ expression, sort, fields: [], isCount: false, offset },
    limit: isBounded ? limit : max - Math.min(offset, max) + 1,
  }
  const picked = createRowSelection<Candidate>(rows, ({ seen }, path) =>
    seen === null ? undefined : callField(seen, path),
  )
  scan(db, selection, checkpoint, (call) => {
    const candidate: Candidate = { key: call.call_key, seen: { call, parsed: {} } }
    const isWanted = picked.add(candidate)
    candidate.seen = null
    return isWanted
  })
  if (!isBounded && picked.count() > max) throw tooMany(max)
  return Float64Array.from(picked.rows(), ({ key }) => key)
}

function countScanned(
  db: Connection,
  selection: CallsSelection,
  checkpoint: () => void,
): CallsCount {
  const { expression, limit } = selection
  let [count, storage_size_bytes] = [0, 0]
  if (limit === 0) return { count, storage_size_bytes }
  const rows = { expression, sort: [], fields: [], isCount: true, offset: 0, limit }
  const picked = createRowSelection<ScannedCall>(rows, callField)
  scan(db, selection, checkpoint, (call) => {
    picked.add({ call, parsed: {} })
    if (picked.count() > count) storage_size_bytes += call.storage_size_bytes
    count = picked.count()
    return count < limit
  })
  return { count, storage_size_bytes }
}

/** Hands calls over, with the bodies that the selection reads, until `take` wants no more. */
function scan(
  db: Connection,
  selection: CallsSelection,
  checkpoint: () => void,
  take: (call: ScannedRow) => boolean,
): void {
  const { direction, expression, sort } = selection
  const { conditions, parameters } = toClause(selection)
  const paths = [...(expression ? fieldPaths(expression) : []), ...sort.map(({ path }) => path)]
  const wanted = new Set<Body>(BODIES.filter((body) => paths.some(([first]) => first === body)))
  const statement = db.prepare(scanCalls(conditions, direction, wanted))
  let rows = 0
  for (const row of statement.iterate(parameters)) {
    rows += 1
    if (rows % CHECKPOINT_ROWS === 0) checkpoint()
    if (!take(row as ScannedRow)) return
  }
}

/** Conditions and parameters of the project, the time and the filter. */
function toClause({ project_id, filter, startedUs }: CallsSelection) {
  const { conditions, parameters } = toFilterClause(filter)
  const { from: from_us, to: to_us } = startedUs
  return { conditions, parameters: { project_id, from_us, to_us, ...parameters } }
}

/** SQLite takes a negative limit for none. */
function toSqlLimit(limit: number): number {
  return Number.isFinite(limit) ? limit : -1
}

function tooMany(max: number): ApiError {
  const message = `More than ${max} calls match: filter or page them.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
