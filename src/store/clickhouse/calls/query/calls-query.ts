/** Lists of calls in ClickHouse: it finds keys by the filter; expressions and other sorts are evaluated per call. */
import { type ReadCaller, requireWaiting } from '../../../../domain/access/read-caller.ts'
import {
  bodiesOfPaths,
  type CallJoins,
  createCallTests,
  type ScannedCall,
} from '../../../../domain/calls/call-fields.ts'
import { type CallTexts, latencyMs } from '../../../../domain/calls/call-view.ts'
import {
  bodiesOfShape,
  type CallsSelection,
  pathsOfSelection,
} from '../../../../domain/calls/calls-query.ts'
import { createCallsSort } from '../../../../domain/calls/calls-sort.ts'
import type { LatencyBound } from '../../../../domain/calls/latency-bound.ts'
import type { CallsCount, CallsQueryStore, ListedCall } from '../../../api/calls/calls.ts'
import type { NodeStores } from '../../../base/node-stores.ts'
import type { Arrivals } from '../../../base/recordings/recordings.ts'
import type { Reads } from '../../db/reads.ts'
import type { ReadCall } from '../call-lookups.ts'
import { SUM_TRACE_SIZES } from '../calls.sql.ts'
import { openCallTrees } from './call-trees.ts'
import { toFilterClause } from './calls-filter.ts'
import { countCalls, countSomeCalls } from './calls-query.sql.ts'
import {
  type BoundedSelection,
  bodyColumnsOf,
  type CallKey,
  findLatencyBound,
  readCalls,
  walkKeys,
} from './calls-walk.ts'

/** Limit: calls of one page. */
const PAGE_ROWS = 100
/** Limit: calls that are checked together. */
const SCAN_ROWS = 1000
/** Limit: the same of calls whose feedback is read. */
const FEEDBACK_ROWS = 100

interface CallsQueryParts {
  readonly reads: Reads
  /** Data that lists join to the calls: feedback and values of refs, from any store, and prices. */
  readonly joinedDataOf: NodeStores['joinedDataOf']
  /** Recorded calls that are not stored yet. */
  readonly arrivals: Pick<Arrivals, 'wait'>
}

export function createCallsQueryStore(parts: CallsQueryParts): CallsQueryStore {
  const { reads, arrivals } = parts
  return {
    async *pages(selection, shape, caller) {
      requireWaiting(caller.signal)
      await arrivals.wait(selection.project_id, selection.filter.call_ids ?? [])
      const { project_id } = selection
      const options = {
        project_id,
        wanted: bodyColumnsOf(bodiesOfShape(shape)),
        rowsMax: PAGE_ROWS,
        isPreview: shape.previewed !== null,
      }
      for await (const keys of selectKeys(parts, selection, caller)) {
        for await (const calls of readCalls(reads, keys, options, caller)) {
          requireWaiting(caller.signal)
          const sizes = shape.withTotalStorageSize ? await sumTraces(reads, calls, caller) : null
          if (calls.length > 0) yield calls.map((call) => toListed(call, sizes))
        }
      }
    },
    async count(selection, caller) {
      requireWaiting(caller.signal)
      if (selection.expression === null) return countFound(reads, selection, caller)
      let [count, storage_size_bytes] = [0, 0]
      for await (const { call } of matchingCalls(parts, selection, caller)) {
        if (count === selection.limit) break
        count += 1
        storage_size_bytes += call.storage_size_bytes
      }
      return { count, storage_size_bytes }
    },
  }
}

function toListed(read: ReadCall, sizes: ReadonlyMap<string, number> | null): ListedCall {
  const { unread = [], ...call } = read
  return { call, totalStorageSizeBytes: sizes && (sizes.get(call.trace_id) ?? 0), unread }
}

async function sumTraces(
  reads: Reads,
  calls: readonly CallTexts[],
  caller: ReadCaller,
): Promise<Map<string, number>> {
  const trace_ids = [...new Set(calls.map(({ trace_id }) => trace_id))]
  const parameters = { project_id: calls[0]?.project_id ?? caller.project_id, trace_ids }
  type Sum = { trace_id: string; bytes: number }
  const sums = await reads.read<Sum>(SUM_TRACE_SIZES, parameters, caller)
  return new Map(sums.map(({ trace_id, bytes }) => [trace_id, bytes]))
}

/** Yields the keys of the page of a selection, in its order, in parts. */
async function* selectKeys(
  parts: CallsQueryParts,
  selection: CallsSelection,
  caller: ReadCaller,
): AsyncGenerator<readonly CallKey[], void> {
  const { expression, sort, offset, limit } = selection
  if (limit === 0) return
  if (sort.length > 0) {
    yield await sortKeys(parts, selection, caller)
    return
  }
  const found =
    expression === null ? walkKeys(parts.reads, selection, caller, offset + limit) : null
  let passed = 0
  for await (const keys of found ?? keysOf(matchingCalls(parts, selection, caller))) {
    const from = Math.max(0, offset - passed)
    const page = keys.slice(from, Math.max(from, offset + limit - passed))
    passed += keys.length
    if (page.length > 0) yield page
    if (passed >= offset + limit) return
  }
}

async function* keysOf(matching: AsyncIterable<Candidate>): AsyncGenerator<CallKey[], void> {
  let keys: CallKey[] = []
  for await (const { call } of matching) {
    keys.push({ started_at_us: call.started_at_us, id: call.id })
    if (keys.length < PAGE_ROWS) continue
    yield keys
    keys = []
  }
  yield keys
}

interface Candidate extends ScannedCall {
  readonly beside: CallJoins
}

/** Yields the calls that meet the condition of a selection, with the bodies that it reads. */
async function* matchingCalls(
  { reads, joinedDataOf }: CallsQueryParts,
  selection: BoundedSelection,
  caller: ReadCaller,
): AsyncGenerator<Candidate, void> {
  const paths = pathsOfSelection(selection)
  const { project_id } = selection
  const wanted = bodyColumnsOf(bodiesOfPaths(paths))
  const options = { project_id, wanted, rowsMax: SCAN_ROWS }
  const { beside: joins, prepare } = joinedDataOf(selection)
  const rowsMax = paths.some(([field]) => field === 'feedback') ? FEEDBACK_ROWS : SCAN_ROWS
  const trees = openCallTrees(reads, selection)
  const beside = trees === null ? joins : { ...joins, treeOf: trees.treeOf }
  const { meets, needsTree, meetsByTree } = createCallTests(selection.expression, selection.sort)
  for await (const keys of walkKeys(reads, selection, caller)) {
    for await (const calls of readCalls(reads, keys, options, caller)) {
      requireWaiting(caller.signal)
      for (let from = 0; from < calls.length; from += rowsMax) {
        const part = calls.slice(from, from + rowsMax)
        const candidates = part.map((call) => ({ call, parsed: {}, beside }))
        await prepare(candidates, paths, caller)
        const found = candidates.filter(meets)
        await trees?.load(
          found.filter(needsTree).map(({ call }) => call),
          caller,
        )
        yield* found.filter(meetsByTree)
      }
    }
  }
}

async function sortKeys(
  parts: CallsQueryParts,
  selection: CallsSelection,
  caller: ReadCaller,
): Promise<CallKey[]> {
  const latencyBound = await findLatencyBound(parts.reads, selection, caller)
  const bounded = await sortWithin(parts, { ...selection, latencyBound }, caller)
  // Calls within the bound may have been deleted since, or have been found by a latency that is not theirs.
  const isShort = latencyBound !== null && bounded.count() < selection.offset + selection.limit
  return (isShort ? await sortWithin(parts, selection, caller) : bounded).keys()
}

async function sortWithin(parts: CallsQueryParts, selection: BoundedSelection, caller: ReadCaller) {
  const sorted = createCallsSort<CallKey>(selection)
  for await (const candidate of matchingCalls(parts, selection, caller)) {
    const { started_at_us, id, ended_at_us } = candidate.call
    const latency = ended_at_us === null ? null : latencyMs(started_at_us, ended_at_us)
    // Until duplicates are merged, a call may have been found by another latency than its own.
    if (isWithin(latency, selection.latencyBound)) sorted.add({ started_at_us, id }, candidate)
  }
  return sorted
}

function isWithin(latency_ms: number | null, bound: LatencyBound | null = null): boolean {
  if (bound === null) return true
  if (latency_ms === null) return false
  return bound.direction === 'asc' ? latency_ms <= bound.latency_ms : latency_ms >= bound.latency_ms
}

async function countFound(
  reads: Reads,
  { project_id, filter, startedUs, limit }: CallsSelection,
  caller: ReadCaller,
): Promise<CallsCount> {
  const { conditions, parameters } = toFilterClause(project_id, filter)
  const bounds = { from_us: startedUs.from, to_us: startedUs.to }
  const isEndless = !Number.isFinite(limit)
  const sql = isEndless ? countCalls(conditions) : countSomeCalls(conditions)
  const all = { ...parameters, ...bounds, ...(isEndless ? {} : { limit }) }
  const [counted] = await reads.read<CallsCount>(sql, all, caller)
  return counted ?? { count: 0, storage_size_bytes: 0 }
}
