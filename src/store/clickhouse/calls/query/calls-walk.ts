/** Walks the calls of a selection in its order, in parts of bounded size, and reads calls by their keys. */
import type { ReadCaller } from '../../../../domain/access/read-caller.ts'
import { PREVIEWED_BYTES_MAX } from '../../../../domain/calls/body-preview.ts'
import type { Body } from '../../../../domain/calls/call-fields.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { type LatencyBound, latencyPage } from '../../../../domain/calls/latency-bound.ts'
import type { Reads } from '../../db/reads.ts'
import { completeCalls, type LiveRow, type ReadCall } from '../call-lookups.ts'
import { type BodyColumn, selectLiveRowsByKey } from '../calls.sql.ts'
import { type FilterClause, toFilterClause } from './calls-filter.ts'
import { SELECT_SIZES, selectKeys, selectLatencies } from './calls-query.sql.ts'

/** Limit: keys of one statement. */
const PART_KEYS = 16_384
/** Limit: calls whose sizes are looked up at once. */
const CHUNK_CALLS = 1000
/** Limit: bytes of bodies that are read at once; a single call may be larger. */
const SLICE_BYTES = 4 * 1024 * 1024

export interface CallKey {
  readonly started_at_us: number
  readonly id: string
}

/** Which calls a walk visits, in which order of time. */
type WalkedCalls = Pick<
  BoundedSelection,
  'project_id' | 'filter' | 'startedUs' | 'direction' | 'latencyBound'
>

/** A selection of which only calls within a bound are visited. */
export type BoundedSelection = CallsSelection & { readonly latencyBound?: LatencyBound | null }

/** Columns with a body of a call. */
const COLUMNS_OF: Readonly<Record<Body, readonly BodyColumn[]>> = {
  attributes: ['attributes_json', 'otel_dump_json'],
  inputs: ['inputs_json'],
  output: ['output_json'],
  summary: ['summary_json'],
}

export function bodyColumnsOf(bodies: readonly Body[]): ReadonlySet<BodyColumn> {
  return new Set(bodies.flatMap((body) => COLUMNS_OF[body]))
}

/**
 * Yields the keys of the calls that are stored now, in parts.
 *
 * @param keysMax - maximum number of keys: a page need not read a whole part
 */
export async function* walkKeys(
  reads: Reads,
  { project_id, filter, startedUs, direction, latencyBound = null }: WalkedCalls,
  caller: ReadCaller,
  keysMax = PART_KEYS,
): AsyncGenerator<CallKey[], void> {
  const limit = Math.min(PART_KEYS, keysMax)
  const { conditions, parameters } = withBound(toFilterClause(project_id, filter), latencyBound)
  const isUp = direction === 'asc'
  let after: CallKey = {
    started_at_us: isUp ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER,
    id: '',
  }
  const bounds = { from_us: startedUs.from, to_us: startedUs.to }
  // The first statement reads ClickHouse's clock, for which the others skip what was stored later.
  let begun_us = 0
  while (true) {
    const behind = { after_us: after.started_at_us, after_id: after.id }
    const found = await reads.read<CallKey & { readonly begun_us: number }>(
      selectKeys(conditions, direction),
      { ...parameters, ...bounds, ...behind, begun_us, limit },
      caller,
    )
    begun_us = found[0]?.begun_us ?? begun_us
    // Two processes may have stored the same call.
    yield found
      .filter((key, at) => at === 0 || !isSame(key, found[at - 1]))
      .map(({ started_at_us, id }) => ({ started_at_us, id }))
    const last = found.at(-1)
    if (last === undefined || found.length < limit) return
    after = last
  }
}

function withBound(clause: FilterClause, bound: LatencyBound | null): FilterClause {
  if (bound === null) return clause
  const condition = bound.direction === 'asc' ? 'latency_at_most' : 'latency_at_least'
  return {
    conditions: [...clause.conditions, condition],
    parameters: { ...clause.parameters, latency_bound: bound.latency_ms },
  }
}

/** Returns the bound of a page that is sorted by latency; null: there is none, or fewer calls than the page has. */
export async function findLatencyBound(
  reads: Reads,
  selection: CallsSelection,
  caller: ReadCaller,
): Promise<LatencyBound | null> {
  const page = latencyPage(selection)
  if (page === null) return null
  const { direction, calls } = page
  const { project_id, filter, startedUs } = selection
  const { conditions, parameters } = toFilterClause(project_id, filter)
  const bounds = { from_us: startedUs.from, to_us: startedUs.to }
  // Two processes may have stored the same call.
  const found = await reads.read<{ id: string; latency: number }>(
    selectLatencies(conditions, direction),
    { ...parameters, ...bounds, limit: 2 * calls },
    caller,
  )
  const ids = new Set<string>()
  const last = found.find(({ id }) => ids.add(id).size === calls)
  return last === undefined ? null : { direction, latency_ms: last.latency }
}

function isSame(key: CallKey, other: CallKey | undefined): boolean {
  return other !== undefined && key.id === other.id && key.started_at_us === other.started_at_us
}

/** Which parts of calls are read. */
interface ReadShape {
  readonly project_id: string
  readonly wanted: ReadonlySet<BodyColumn>
  /** Limit: calls of a slice. */
  readonly rowsMax: number
  /** Whether long bodies are left out. */
  readonly isPreview?: boolean
}

/** Yields the calls of keys in their order, in slices of bounded size, without those deleted since. */
export async function* readCalls(
  reads: Reads,
  keys: readonly CallKey[],
  { project_id, wanted, rowsMax, isPreview = false }: ReadShape,
  caller: ReadCaller,
): AsyncGenerator<ReadCall[], void> {
  const read = <Found>(sql: string, parameters: Readonly<Record<string, unknown>>) =>
    reads.read<Found>(sql, parameters, caller)
  for (let at = 0; at < keys.length; at += CHUNK_CALLS) {
    const chunk = keys.slice(at, at + CHUNK_CALLS)
    const sizes =
      wanted.size === 0
        ? []
        : await read<{ id: string; bytes: number }>(SELECT_SIZES, partOf(project_id, chunk))
    const bytesOf = new Map(sizes.map(({ id, bytes }) => [id, bytes]))
    const bytesMax = isPreview ? PREVIEWED_BYTES_MAX : Number.POSITIVE_INFINITY
    const sizeOf = (id: string) => Math.min(bytesOf.get(id) ?? 0, bytesMax)
    for (const slice of cutSlices(chunk, sizeOf, rowsMax)) {
      const part = partOf(project_id, slice)
      const rows = await read<LiveRow>(selectLiveRowsByKey(wanted, isPreview), part)
      const calls = await completeCalls(read, project_id, rows, isPreview)
      yield slice.flatMap(({ id }) => calls.get(id) ?? [])
    }
  }
}

/** Returns the parameters by which statements find calls of keys. */
export function partOf(project_id: string, keys: readonly CallKey[]) {
  const times = [...new Set(keys.map(({ started_at_us }) => started_at_us))]
  return { project_id, times, ids: keys.map(({ id }) => id) }
}

function cutSlices(
  keys: readonly CallKey[],
  bytesOf: (id: string) => number,
  rowsMax: number,
): CallKey[][] {
  const slices: CallKey[][] = []
  let slice: CallKey[] = []
  let bytes = 0
  for (const key of keys) {
    const more = bytesOf(key.id)
    if (slice.length > 0 && (slice.length >= rowsMax || bytes + more > SLICE_BYTES)) {
      slices.push(slice)
      slice = []
      bytes = 0
    }
    slice.push(key)
    bytes += more
  }
  if (slice.length > 0) slices.push(slice)
  return slices
}
