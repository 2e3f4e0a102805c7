/** Sums of the calls of a time range, over all of it and by model. */
import { requestJson } from '../api/client.ts'
import type { StatsQueryBody, StatsResponse } from '../api/wire.ts'

/** Seconds: the longest bucket, so that a range has one. */
const GRANULARITY_S = 36_525 * 86_400

export interface Sums {
  readonly name: string
  readonly calls: number
  /** Null where they are not counted. */
  readonly errors: number | null
  readonly tokens: number
  /** US dollars; null if nothing has a price. */
  readonly cost: number | null
}

export interface Totals extends Sums {
  readonly errors: number
  /** Milliseconds; null without a call that ended. */
  readonly p95: number | null
  readonly models: readonly Sums[]
}

interface Scope {
  readonly project: string
  readonly fromMs: number
  readonly toMs: number
  readonly filter?: StatsQueryBody['filter']
  readonly name?: string
}

export async function readTotals(
  { project, fromMs, toMs, filter, name = '' }: Scope,
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
  const models = modelsOf(answer)
  const costs = models.flatMap(({ cost }) => cost ?? [])
  const sum = (metric: string) =>
    answer.call_buckets.reduce((total, bucket) => total + Number(bucket[metric] ?? 0), 0)
  const p95 = answer.call_buckets.flatMap((bucket) => bucket.p95_latency_ms ?? [])
  return {
    name,
    calls: sum('sum_call_count'),
    errors: sum('sum_error_count'),
    p95: p95.length === 0 ? null : Math.max(...p95.map(Number)),
    tokens: models.reduce((total, { tokens }) => total + tokens, 0),
    cost: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
    models,
  }
}

function modelsOf({ usage_buckets }: StatsResponse): Sums[] {
  return usage_buckets.flatMap(({ model, count, sum_total_tokens, sum_total_cost }) =>
    count === 0
      ? []
      : [
          {
            name: model,
            calls: Number(count),
            errors: null,
            tokens: Number(sum_total_tokens ?? 0),
            cost: typeof sum_total_cost === 'number' ? sum_total_cost : null,
          },
        ],
  )
}
