/** The writes and queries of benchmarks of stores. */
import type { ReadCaller } from '../../src/domain/access/read-caller.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../src/domain/calls/calls-query.ts'
import type { CallParts } from '../../src/domain/calls/new-call.ts'
import { type ProjectPrice, resolvePrice } from '../../src/domain/prices/project-prices.ts'
import { toColumns } from '../../src/domain/stats/metric-names.ts'
import type { CallsFilter } from '../../src/schemas/calls/calls-filter.ts'
import type { CallMetric, UsageMetric } from '../../src/schemas/stats/stats.ts'
import type { StatsGroupField } from '../../src/schemas/stats/stats-groups.ts'
import type { GroupsQuery, StatsQuery } from '../../src/store/api/stats/stats.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import { FIRST_US, project_id, RANGE_US } from '../servers/trace-calls.ts'

const [HOUR_US, BATCH_CALLS] = [3600e6, 1000]
export const caller: ReadCaller = {
  keyId: 'bench',
  project_id,
  signal: new AbortController().signal,
}

/**
 * Writes calls in batches of 1,000.
 *
 * @param atOnce - batches; with one, calls are stored in their order
 * @returns calls per second
 */
export async function ingest(
  stores: Stores,
  { from, end, atOnce = 4 }: { readonly from: number; readonly end: number; atOnce?: number },
  callAt: (at: number) => CallParts,
): Promise<number> {
  const begun = performance.now()
  let next = from
  async function send(): Promise<void> {
    while (next < end) {
      const first = next
      next = Math.min(next + BATCH_CALLS, end)
      const parts = Array.from({ length: next - first }, (_, at) => callAt(first + at))
      const results = await stores.calls.writeParts(parts)
      if (results.some(({ error }) => error)) throw new Error('a call was refused')
    }
  }
  await Promise.all(Array.from({ length: atOnce }, send))
  return (end - from) / ((performance.now() - begun) / 1000)
}

/** A list of calls: all of its pages are read. */
export function list(filter: CallsFilter, limit: number, sort?: string) {
  const sort_by = sort === undefined ? null : [{ field: sort, direction: 'desc' as const }]
  const selection = resolveCallsSelection({ project_id, filter, limit, sort_by })
  const shape = resolveCallsShape({ project_id })
  return async (stores: Stores) => {
    for await (const _page of stores.callsQuery.pages(selection, shape, caller));
  }
}

function priceOf(llm_id: string): ProjectPrice {
  const cost = { prompt_token_cost: 0.0000025, completion_token_cost: 0.00001 }
  const made = { project_id, id: llm_id, svc_user_id: 'bench', created_at_us: 0 }
  return resolvePrice(llm_id, cost, made)
}

const hours = Array.from({ length: RANGE_US / HOUR_US }, (_, at) => FIRST_US + at * HOUR_US)
const query = {
  project_id,
  filter: {},
  startUs: FIRST_US,
  endUs: FIRST_US + RANGE_US,
  startsUs: Float64Array.from(hours),
  prices: ['model-0', 'model-1', 'model-2', 'model-3', 'model-4'].map(priceOf),
  valuesMax: 1e6,
  counting: 'own' as const,
  usageColumns: [],
}

function latency(percentiles: number[]) {
  return toColumns<CallMetric>([{ metric: 'latency_ms', aggregations: ['avg'], percentiles }])
}

function sumOf(metric: UsageMetric) {
  return toColumns<UsageMetric>([{ metric, aggregations: ['sum'], percentiles: [] }])
}

const averages = { ...query, callColumns: latency([]) }
const ranks = { ...query, callColumns: latency([50, 95, 99]) }
const tokens = { ...averages, usageColumns: sumOf('total_tokens') }
const ofOp = { filter: { op_names: ['step_1'] } }
const daysUs = hours.filter((_, at) => at % 24 === 0)

/** Statistics over all of the time, by name. */
export const STATISTICS = {
  'averages by hour, 30 days': averages,
  'averages of one op': { ...averages, ...ofOp },
  'p50, p95 and p99 by hour': ranks,
  'p50, p95 and p99 of one op': { ...ranks, ...ofOp },
  'p50, p95 and p99 by day': { ...ranks, startsUs: Float64Array.from(daysUs) },
  'averages and tokens by hour, each token once': tokens,
  'the same, tokens as reported': { ...tokens, counting: 'reported' },
  'costs by hour, each token once': { ...averages, usageColumns: sumOf('total_cost') },
} satisfies Readonly<Record<string, StatsQuery>>

/** The ten groups with the most calls, with their tokens. */
export function groupedBy(field: StatsGroupField): GroupsQuery {
  const groupBy = {
    field,
    sort_by: { field: 'count', direction: 'desc' as const },
    limit: 10,
    times: false,
  }
  return { ...tokens, groupBy }
}
