/** The value of an alert over its window, by the stores that compute `/calls/stats` and `/feedback/stats`. */
import type { ReadCaller } from '../domain/access/read-caller.ts'
import { type Alert, type AlertMetric, feedbackSpecsOf } from '../domain/alerts/alert.ts'
import { renderWindowStats, resolveFeedbackMetrics } from '../domain/feedback/feedback-metrics.ts'
import { resolveFeedbackWindow } from '../domain/feedback/feedback-sample.ts'
import type { TimeWindow } from '../domain/stats/buckets.ts'
import { isMoney, type StatColumn, toColumns } from '../domain/stats/metric-names.ts'
import { chooseCounting } from '../domain/usage/own-usage.ts'
import type { Aggregation } from '../schemas/stats/stats.ts'
import { renderTimestamp } from '../schemas/timestamp.ts'
import type { StatsQuery } from '../store/api/stats/stats.ts'
import type { Stores } from '../store/api/stores.ts'

export type MeasuredStores = Pick<Stores, 'stats' | 'prices' | 'feedback'>
type MetricOf<Kind extends AlertMetric['kind']> = Extract<AlertMetric, { kind: Kind }>

/** Limit: values of one read, which grow with the models. */
const VALUES_MAX = 500_000
const US_PER_S = 1_000_000

/**
 * Measures the window that ends at a time.
 *
 * @returns null when the window has no value, as an average of no calls
 * @throws ApiError of the stores
 */
export function measureAlert(
  stores: MeasuredStores,
  { project_id, settings }: Pick<Alert, 'project_id' | 'settings'>,
  endUs: number,
  signal: AbortSignal,
): Promise<number | null> {
  const { metric, window_s } = settings
  const window = { startUs: endUs - window_s * US_PER_S, endUs }
  const caller = { keyId: 'alerts', project_id, signal }
  if (metric.kind === 'feedback') return measureFeedback(stores, metric, window, caller)
  const filter = settings.filter ?? {}
  const query = {
    project_id,
    filter,
    ...window,
    startsUs: Float64Array.of(window.startUs),
    callColumns: [],
    usageColumns: [],
    prices: [],
    counting: chooseCounting(null, filter),
    valuesMax: VALUES_MAX,
  }
  return metric.kind === 'calls'
    ? measureCalls(stores, metric, query, caller)
    : measureUsage(stores, metric, query, caller)
}

async function measureCalls(
  { stats }: MeasuredStores,
  { metric, aggregation, percentile }: MetricOf<'calls'>,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<number | null> {
  const isShare = metric === 'error_share'
  const of = aggregation ?? (metric === 'latency_ms' ? 'avg' : 'sum')
  const callColumns = isShare
    ? toColumns([
        { metric: 'error_count' as const, aggregations: ['sum'], percentiles: [] },
        { metric: 'call_count' as const, aggregations: ['sum'], percentiles: [] },
      ])
    : columnsOf(metric, of, percentile)
  const { calls } = await stats.aggregate({ ...query, callColumns }, caller)
  const [value = Number.NaN, count = 0] = calls?.values.map(([only]) => only ?? Number.NaN) ?? []
  if (isShare) return count === 0 ? null : value / count
  // An average of nothing is 0 in statistics.
  if (of === 'avg' && count === 0) return null
  return Number.isNaN(value) ? null : value
}

/** Models are summed up; of a percentile there is one model. */
async function measureUsage(
  { stats, prices }: MeasuredStores,
  { metric, model, aggregation, percentile }: MetricOf<'usage'>,
  query: StatsQuery,
  caller: ReadCaller,
): Promise<number | null> {
  const of = aggregation ?? 'sum'
  const isMean = of === 'avg' && typeof percentile !== 'number'
  const usageColumns = columnsOf(metric, isMean ? 'sum' : of, percentile)
  const listed = isMoney(metric) ? await prices.listPrices(query.project_id) : []
  const { usage } = await stats.aggregate({ ...query, usageColumns, prices: listed }, caller)
  const rows = usage
    .filter((found) => !model || found.model === model)
    .map(({ table }) => table.values.map(([only]) => only ?? Number.NaN))
    .filter(([value = Number.NaN]) => !Number.isNaN(value))
  const values = rows.map(([value]) => value as number)
  if (typeof percentile === 'number') return values[0] ?? null
  if (of === 'min' || of === 'max') return values.length === 0 ? null : Math[of](...values)
  const sum = values.reduce((total, value) => total + value, 0)
  const count = rows.reduce((total, [, values_count = 0]) => total + values_count, 0)
  if (!isMean) return sum
  return count === 0 ? null : sum / count
}

/** Returns the column of a metric, and the count of its values behind it. */
function columnsOf<Metric extends string>(
  metric: Metric,
  aggregation: Aggregation,
  percentile: number | null | undefined,
): StatColumn<Metric>[] {
  const isRanked = typeof percentile === 'number'
  const [value] = toColumns([
    {
      metric,
      aggregations: isRanked ? [] : [aggregation],
      percentiles: isRanked ? [percentile] : [],
    },
  ])
  const [count] = toColumns([{ metric, aggregations: ['count'], percentiles: [] }])
  return [value, count].filter((column) => column !== undefined)
}

async function measureFeedback(
  { feedback }: MeasuredStores,
  metric: MetricOf<'feedback'>,
  { startUs, endUs }: TimeWindow,
  caller: ReadCaller,
): Promise<number | null> {
  const metrics = resolveFeedbackMetrics(feedbackSpecsOf(metric))
  const { feedback_type, trigger_ref } = metric
  const { project_id } = caller
  const [start, end] = [renderTimestamp(startUs), renderTimestamp(endUs)]
  const window = resolveFeedbackWindow(
    { project_id, start, end, feedback_type, trigger_ref },
    endUs,
  )
  const startsUs = Float64Array.of(startUs)
  const { whole, counts } = await feedback.measureFeedback({ window, metrics, startsUs }, caller)
  const found = Object.entries(renderWindowStats(metrics, whole, counts))
  const [, values] = found.find(([slug]) => (counts[slug] ?? 0) > 0) ?? found[0] ?? []
  return Object.values(values ?? {})[0] ?? null
}
