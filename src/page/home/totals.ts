/** Sums of the calls of a time range, and the newest call of a project. */
import { requestJson, requestLines } from '../api/client.ts'
import type { Call, StatsQueryBody, StatsResponse } from '../api/wire.ts'

/** Seconds: the longest bucket, so that a range has one. */
const GRANULARITY_S = 36_525 * 86_400

export interface Totals {
  readonly calls: number
  readonly errors: number
  readonly tokens: number
  /** US dollars; null if nothing has a price. */
  readonly cost: number | null
  /** Milliseconds; null without a call that ended. */
  readonly p95: number | null
}

interface Scope {
  readonly project: string
  readonly fromMs: number
  readonly toMs: number
  /** Default: all calls. */
  readonly filter?: StatsQueryBody['filter']
}

export async function readTotals(
  { project, fromMs, toMs, filter }: Scope,
  signal: AbortSignal,
): Promise<Totals> {
  const question: StatsQueryBody = {
    project_id: project,
    start: new Date(fromMs).toISOString(),
    end: new Date(toMs).toISOString(),
    granularity: GRANULARITY_S,
    call_metrics: [
      { metric: 'call_count' },
      { metric: 'error_count' },
      { metric: 'latency_ms', aggregations: [], percentiles: [95] },
    ],
    usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    ...(filter === undefined ? {} : { filter }),
  }
  const answer = await requestJson<StatsResponse>('/calls/stats', question, { signal })
  const used = answer.usage_buckets.filter(({ count }) => count !== 0)
  const costs = used.flatMap(({ sum_total_cost }) =>
    typeof sum_total_cost === 'number' ? sum_total_cost : [],
  )
  const sum = (metric: string) =>
    answer.call_buckets.reduce((total, bucket) => total + Number(bucket[metric] ?? 0), 0)
  const p95 = answer.call_buckets.flatMap((bucket) => bucket.p95_latency_ms ?? [])
  return {
    calls: sum('sum_call_count'),
    errors: sum('sum_error_count'),
    p95: p95.length === 0 ? null : Math.max(...p95.map(Number)),
    tokens: used.reduce((total, bucket) => total + Number(bucket.sum_total_tokens ?? 0), 0),
    cost: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
  }
}

/** The start of the newest call; null if the project has none. */
export async function readNewestStart(
  project_id: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const body = {
    project_id,
    columns: ['started_at'],
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    limit: 1,
  }
  const calls = requestLines<Call>('/calls/stream_query', body, { signal })
  const [newest] = await Array.fromAsync(calls)
  return newest?.started_at ?? null
}
