/**
 * Walks the calls of a selection in its order, a bounded part at a time, so that a read can stop between any two
 * parts and go on later behind the last call.
 */
import type { Body } from '../../../../domain/calls/call-fields.ts'
import type { CallTexts } from '../../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import type { TimeBounds } from '../../../../domain/query/time-bounds.ts'
import type { Connection } from '../../db/connection.ts'
import type { Checkpoint } from '../../read/read-job.ts'
import { toFilterClause } from './calls-filter.ts'
import {
  FIND_TIME_AFTER,
  FIND_TIME_BEFORE,
  findCallsByKey,
  MAX_CALL_KEY,
  type NamedColumn,
  selectCallKeys,
} from './calls-query.sql.ts'
import { type FilterCondition, isByTime } from './filter-conditions.sql.ts'

/** Limit: calls of one statement, whether a filter lets them through or not; some 20 ms. */
const PART_CALLS = 16_384
/** Calls whose bodies one statement reads. */
const CHUNK_CALLS = 256

/** Which calls a walk meets, in which order of time. */
type WalkedCalls = Pick<CallsSelection, 'project_id' | 'filter' | 'startedUs' | 'direction'>

/** Where a walk goes on. Plain data. */
export interface CallsPlace {
  /** The last call that was looked at; no call has the time of the beginning. */
  readonly after_us: number
  readonly after_id: string
  /** Calls that came later than the walk began are left out. */
  readonly max_key: number
}

/** A call that the filter lets through; behind its id the columns that were wanted besides. */
export type FoundKey = readonly [
  call_key: number,
  started_at_us: number,
  id: string,
  ...more: (number | null)[],
]

/** Columns that are wanted besides, as of selectCallKeys, and their parameters. */
export interface MoreColumns {
  readonly columns: readonly string[]
  readonly parameters: Readonly<Record<string, unknown>>
}

interface WalkOptions extends MoreColumns {
  /** Calls that are taken at most: for a page no whole part need be read. */
  readonly callsMax?: number
}

export const NO_MORE: MoreColumns = { columns: [], parameters: {} }

export type ScannedRow = CallTexts & { readonly call_key: number }

/** The place before the first call, as of now. */
export function beginWalk(db: Connection): CallsPlace {
  const max_key = (db.prepare(MAX_CALL_KEY).pluck().get() as number | null) ?? 0
  return { after_us: Number.NaN, after_id: '', max_key }
}

/** Conditions of the filter, and parameters but those of time. */
export function toClause(
  db: Connection,
  { project_id, filter }: WalkedCalls,
  { max_key }: CallsPlace,
) {
  const { conditions, parameters } = toFilterClause(db, project_id, filter)
  return { conditions, parameters: { project_id, max_key, ...parameters } }
}

/**
 * Hands the keys over in parts of bounded size, until `take` wants no more; it is a generator that pauses by itself.
 *
 * @param place - begins there
 */
export function* walkKeys(
  db: Connection,
  selection: WalkedCalls,
  place: CallsPlace,
  checkpoint: Checkpoint,
  take: (keys: readonly FoundKey[]) => Generator<void, boolean>,
  { columns, parameters: beside, callsMax = PART_CALLS }: WalkOptions = NO_MORE,
): Generator<void, void> {
  const { direction } = selection
  const clause = toClause(db, selection, place)
  const { conditions } = clause
  const parameters = { ...clause.parameters, ...beside }
  const select = db.prepare(selectCallKeys(conditions, direction, columns)).raw()
  const limit = Math.min(PART_CALLS, callsMax)
  let { after_us, after_id } = place
  for (const part of cutTime(db, conditions, selection, place)) {
    while (true) {
      const rest = startBehind(part, direction, after_us)
      const bounds = { from_us: rest.from, to_us: rest.to }
      const after = { after_us: Number.isNaN(after_us) ? null : after_us, after_id }
      const keys = select.all({
        ...{ ...parameters, ...bounds, ...after, limit },
      }) as FoundKey[]
      if (!(yield* take(keys))) return
      if (checkpoint()) yield
      const last = keys.at(-1)
      if (keys.length < limit || last === undefined) break
      after_us = last[1]
      after_id = last[2]
    }
  }
}

/** Parts of the time of a selection with about PART_CALLS calls each; the whole where an index finds few calls. */
export function* cutTime(
  db: Connection,
  conditions: readonly FilterCondition[],
  { project_id, startedUs, direction }: Omit<WalkedCalls, 'filter'>,
  { after_us }: Pick<CallsPlace, 'after_us'>,
): Generator<TimeBounds, void> {
  let { from, to } = startBehind(startedUs, direction, after_us)
  if (!isByTime(conditions)) {
    yield { from, to }
    return
  }
  const isUp = direction === 'asc'
  const find = db.prepare(isUp ? FIND_TIME_AFTER : FIND_TIME_BEFORE).pluck()
  while (from <= to) {
    const bounds = { project_id, from_us: from, to_us: to, calls: PART_CALLS }
    const end = find.get(bounds) as number | undefined
    if (end === undefined) {
      yield { from, to }
      return
    }
    // All calls of one time stay together: the order within is by id.
    if (isUp) {
      const last = Math.max(end - 1, from)
      yield { from, to: last }
      from = last + 1
    } else {
      const first = Math.min(end + 1, to)
      yield { from: first, to }
      to = first - 1
    }
  }
}

function startBehind({ from, to }: TimeBounds, direction: 'asc' | 'desc', after_us: number) {
  if (Number.isNaN(after_us)) return { from, to }
  return direction === 'asc'
    ? { from: Math.max(from, after_us), to }
    : { from, to: Math.min(to, after_us) }
}

/** Reads calls with some of their bodies and names, until `take` wants no more and gives false; pauses by itself. */
export function createCallReader(
  db: Connection,
  wanted: ReadonlySet<Body>,
  named: ReadonlySet<NamedColumn>,
  checkpoint: Checkpoint,
) {
  const find = db.prepare(findCallsByKey(wanted, named))

  return function* readCalls(
    found: readonly FoundKey[],
    take: (call: ScannedRow, key: FoundKey) => boolean,
  ): Generator<void, boolean> {
    const keys = found.map(([key]) => key)
    let at = 0
    while (at < keys.length) {
      const end = Math.min(at + CHUNK_CALLS, keys.length)
      let isDue = false
      for (const row of find.iterate({ keys: `[${keys.slice(at, end).join()}]` })) {
        const call = row as ScannedRow
        // Calls that were deleted meanwhile are passed over.
        while (keys[at] !== call.call_key) at += 1
        if (!take(call, found[at] as FoundKey)) return false
        at += 1
        isDue = checkpoint()
        if (isDue) break
      }
      if (isDue) yield
      else at = end
    }
    return true
  }
}
