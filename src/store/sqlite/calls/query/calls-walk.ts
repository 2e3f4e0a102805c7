/**
 * Walks the calls of a selection in order, a bounded part at a time, so that a read can pause between two parts and
 * resume later after the last call.
 */
import type { Body } from '../../../../domain/calls/call-fields.ts'
import type { CallTexts } from '../../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { type LatencyBound, latencyPage } from '../../../../domain/calls/latency-bound.ts'
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
  selectLatencies,
} from './calls-query.sql.ts'
import { type FilterCondition, isByTime } from './filter-conditions.sql.ts'

/** Limit: calls that one statement visits, whether they pass the filter or not; some 20 ms. */
const PART_CALLS = 16_384
/** Calls whose bodies one statement reads. */
const CHUNK_CALLS = 256

/** Which calls a walk visits, and in which time order. */
type WalkedCalls = Pick<
  BoundedSelection,
  'project_id' | 'filter' | 'startedUs' | 'direction' | 'latencyBound'
>

/** A selection of which only calls within a bound are visited. */
export type BoundedSelection = CallsSelection & { readonly latencyBound?: LatencyBound | null }

/** The position from which a walk resumes. Plain data. */
export interface CallsPosition {
  /** The last call visited; before the first call, a time that no call has. */
  readonly after_us: number
  readonly after_id: string
  /** Skips calls that were stored after the walk began. */
  readonly max_key: number
}

/** A call that passes the filter; additional columns follow its id. */
export type FoundKey = readonly [
  call_key: number,
  started_at_us: number,
  id: string,
  ...more: (number | null)[],
]

/** Additional columns, for selectCallKeys, and their parameters. */
export interface MoreColumns {
  readonly columns: readonly string[]
  readonly parameters: Readonly<Record<string, unknown>>
}

interface WalkOptions extends MoreColumns {
  /** Limit: calls to take; a page does not need a whole part. */
  readonly callsMax?: number
}

export const NO_MORE: MoreColumns = { columns: [], parameters: {} }

export type ScannedRow = CallTexts & { readonly call_key: number }

/** Returns the position before the first call; the walk will see the calls stored so far. */
export function beginWalk(db: Connection): CallsPosition {
  const max_key = (db.prepare(MAX_CALL_KEY).pluck().get() as number | null) ?? 0
  return { after_us: Number.NaN, after_id: '', max_key }
}

/** Returns the conditions of the filter, and all parameters except the times. */
export function toClause(
  db: Connection,
  { project_id, filter, latencyBound }: WalkedCalls,
  { max_key }: CallsPosition,
) {
  const { conditions, parameters } = toFilterClause(db, project_id, filter)
  const clause = { conditions, parameters: { project_id, max_key, ...parameters } }
  return latencyBound ? withBound(clause, latencyBound) : clause
}

interface WalkClause {
  readonly conditions: readonly FilterCondition[]
  readonly parameters: Readonly<Record<string, unknown>>
}

function withBound(
  { conditions, parameters }: WalkClause,
  { direction, latency_ms }: LatencyBound,
): WalkClause {
  const condition: FilterCondition = direction === 'asc' ? 'latency_at_most' : 'latency_at_least'
  return {
    conditions: [...conditions, condition],
    parameters: { ...parameters, latency_bound: latency_ms },
  }
}

/** Returns the bound of a page that is sorted by latency; null: there is none, or fewer calls than the page has. */
export function* findLatencyBound(
  db: Connection,
  selection: CallsSelection,
  place: CallsPosition,
  checkpoint: Checkpoint,
): Generator<void, LatencyBound | null> {
  const page = latencyPage(selection)
  if (page === null) return null
  const { direction, calls } = page
  const clause = toClause(db, selection, place)
  let found: number[] = []
  let bound: LatencyBound | null = null
  for (const { from: from_us, to: to_us } of cutTime(db, clause.conditions, selection, place)) {
    const { conditions, parameters } = bound === null ? clause : withBound(clause, bound)
    const select = db.prepare(selectLatencies(conditions, direction)).pluck()
    const part = select.all({ ...parameters, from_us, to_us, limit: calls }) as number[]
    const sign = direction === 'asc' ? 1 : -1
    found = [...found, ...part].sort((one, other) => sign * (one - other)).slice(0, calls)
    const last = found[calls - 1]
    if (last !== undefined) bound = { direction, latency_ms: last }
    if (checkpoint()) yield
  }
  return bound
}

/**
 * Passes keys in parts of bounded size to `take`, until that returns false. `take` is a generator that may pause, too.
 *
 * @param place - where to begin
 */
export function* walkKeys(
  db: Connection,
  selection: WalkedCalls,
  place: CallsPosition,
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
        ...parameters,
        ...bounds,
        ...after,
        limit,
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

/** Cuts the time of a selection into parts of about PART_CALLS calls, but not when an index finds few calls. */
export function* cutTime(
  db: Connection,
  conditions: readonly FilterCondition[],
  { project_id, startedUs, direction }: Omit<WalkedCalls, 'filter'>,
  { after_us }: Pick<CallsPosition, 'after_us'>,
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
    // Keeps calls of the same time together, because they are ordered by id.
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

/** Returns a generator that reads calls with the wanted bodies and columns until `take` returns false; it pauses. */
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
        // Skips calls that were deleted meanwhile.
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
