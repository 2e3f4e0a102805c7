/**
 * Queries of Langfuse's metrics as statistics over calls. Pure.
 *
 * Spec: none, an addition. Choice: what the statistics do not have is refused by name, not left out.
 */
import { ApiError } from '../../errors.ts'
import type { MetricsContent } from '../../schemas/langfuse/metrics.ts'
import {
  type Aggregation,
  type CallMetric,
  type CallStatsRequest,
  type CallStatsResponse,
  GRANULARITY_S_MAX,
  type UsageMetric,
} from '../../schemas/stats/stats.ts'

const CALL_MEASURES: Readonly<Record<string, CallMetric>> = {
  count: 'call_count',
  latency: 'latency_ms',
}
const USAGE_MEASURES: Readonly<Record<string, UsageMetric>> = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  totalTokens: 'total_tokens',
  inputCost: 'input_cost',
  outputCost: 'output_cost',
  totalCost: 'total_cost',
}
const AGGREGATIONS: readonly string[] = ['sum', 'avg', 'count', 'max', 'min']
const COUNTING: readonly string[] = ['count', 'sum']
const PERCENTILES: readonly string[] = ['p50', 'p75', 'p90', 'p95', 'p99']
const MODEL = 'providedModelName'
const TIME = 'time_dimension'
/** Seconds of a bucket; `auto` lets the statistics choose. */
const GRANULARITIES: Readonly<Record<string, number | null>> = {
  auto: null,
  minute: 60,
  hour: 3600,
  day: 86_400,
}
type Value = string | number | null
type MetricsRow = Readonly<Record<string, Value>>

/** @throws ApiError unsupported_value for what calls have no statistics of, and for an order that the rows do not have */
export function toStatsRequest(query: MetricsContent, project_id: string): CallStatsRequest {
  const { view, dimensions, metrics, timeDimension, orderBy } = query
  if (view !== 'observations') throw unsupported('view', view, ['observations'])
  const byModel = isByModel(query)
  const unknown = (orderBy ?? []).find(({ field }) => !fieldsOf(query).includes(field))
  if (unknown) throw unsupported('orderBy', unknown.field, fieldsOf(query))
  const other = dimensions.find(({ field }) => field !== MODEL)
  if (other) throw unsupported('dimensions', other.field, [MODEL])
  const granularity = timeDimension?.granularity ?? null
  if (granularity !== null && !Object.hasOwn(GRANULARITIES, granularity)) {
    throw unsupported('timeDimension', granularity, Object.keys(GRANULARITIES))
  }
  const known = Object.keys(byModel ? USAGE_MEASURES : { ...CALL_MEASURES, ...USAGE_MEASURES })
  for (const { measure, aggregation } of metrics) {
    if (!known.includes(measure)) throw unsupported('metrics', measure, known)
    const isMerged = !byModel && Object.hasOwn(USAGE_MEASURES, measure)
    const others = isMerged ? AGGREGATIONS : [...AGGREGATIONS, ...PERCENTILES]
    const taken = measure === 'count' ? COUNTING : others
    if (!taken.includes(aggregation)) {
      throw unsupported('metrics', `${aggregation} of ${measure}`, taken)
    }
  }
  return {
    project_id,
    start: query.fromTimestamp,
    end: query.toTimestamp,
    // Without a time dimension the longest bucket, which begins in 1970.
    granularity: granularity === null ? GRANULARITY_S_MAX : GRANULARITIES[granularity],
    timezone: 'UTC',
    call_metrics: specsOf(metrics, CALL_MEASURES),
    usage_metrics: specsOf(metrics, USAGE_MEASURES),
    filter: filterOf(query),
  }
}

/** The names of the values of a row. */
function fieldsOf(query: MetricsContent): string[] {
  const heads = isByModel(query) ? [MODEL] : []
  if (query.timeDimension) heads.push(TIME)
  return [...heads, ...query.metrics.map(fieldOf)]
}

function fieldOf({ measure, aggregation }: MetricsContent['metrics'][number]): string {
  return `${aggregation}_${measure}`
}

function isByModel({ dimensions }: MetricsContent): boolean {
  return dimensions.length > 0
}

function specsOf<Metric>(
  metrics: MetricsContent['metrics'],
  measures: Readonly<Record<string, Metric>>,
) {
  return [...new Set(metrics.map(({ measure }) => measure))].flatMap((measure) => {
    const metric = measures[measure]
    if (metric === undefined) return []
    const asked = metrics.filter((one) => one.measure === measure).map((one) => one.aggregation)
    const percentiles = asked.filter((name) => PERCENTILES.includes(name))
    // The mean of several models needs their sums and counts.
    const aggregations = ['sum', 'count', ...asked.filter((name) => AGGREGATIONS.includes(name))]
    return {
      metric,
      aggregations: [...new Set(aggregations)] as Aggregation[],
      percentiles: [...new Set(percentiles)].map((name) => Number(name.slice(1))),
    }
  })
}

/** @throws ApiError unsupported_value for a condition that statistics do not have */
function filterOf({ filters }: MetricsContent): CallStatsRequest['filter'] {
  const filter: NonNullable<CallStatsRequest['filter']> = {}
  const lists = { traceId: 'trace_ids', sessionId: 'thread_ids', userId: 'end_user_ids' } as const
  for (const { column, operator, value } of filters ?? []) {
    const values = [value].flat().filter((one): one is string => typeof one === 'string')
    const name = Object.hasOwn(lists, column) ? lists[column as keyof typeof lists] : null
    const isOneOf = operator === '=' || operator === 'any of'
    if (name !== null && isOneOf && values.length > 0 && filter[name] === undefined) {
      filter[name] = values
    } else if (column === 'isRootObservation' && operator === '=' && value === true) {
      filter.trace_roots_only = true
    } else {
      const known = [...Object.keys(lists), 'isRootObservation = true']
      throw unsupported('filters', `${column} ${operator}`, known)
    }
  }
  return filter
}

/**
 * Renders statistics as the rows of a query: by time, then model, or as it orders them; those without calls are left out.
 *
 * @throws ApiError unsupported_value when the buckets are longer than it asks, as there would be too many
 */
export function renderMetrics(query: MetricsContent, stats: CallStatsResponse): MetricsRow[] {
  const granularity = query.timeDimension?.granularity ?? null
  const asked = granularity === null ? null : (GRANULARITIES[granularity] ?? null)
  if (asked !== null && stats.granularity !== asked) {
    const message = 'There would be too many rows: use a shorter window, or a longer granularity.'
    throw new ApiError('unsupported_value', { param: 'timeDimension', message })
  }
  const rows = new Map<string, RowParts>()
  const rowOf = (bucket: Bucket) => {
    const { timestamp, model } = bucket as { timestamp: string; model?: string }
    const head: Record<string, Value> = {}
    if (isByModel(query)) head[MODEL] = model ?? null
    if (granularity !== null) head[TIME] = timestamp
    const key = JSON.stringify(head)
    const row: RowParts = rows.get(key) ?? { head, calls: [], usage: [] }
    rows.set(key, row)
    return row
  }
  for (const bucket of stats.call_buckets) if (bucket.count !== 0) rowOf(bucket).calls.push(bucket)
  for (const bucket of stats.usage_buckets) if (bucket.count !== 0) rowOf(bucket).usage.push(bucket)
  const rendered = [...rows.values()].map(({ head, calls, usage }) => {
    const values = query.metrics.map(({ measure, aggregation }) => {
      const isUsage = Object.hasOwn(USAGE_MEASURES, measure)
      const metric = (isUsage ? USAGE_MEASURES : CALL_MEASURES)[measure] ?? measure
      const found = isUsage ? usage : calls
      const counted = measure === 'count' ? 'sum' : aggregation
      return [fieldOf({ measure, aggregation }), merge(found, counted, metric)]
    })
    return { ...head, ...Object.fromEntries(values) } as MetricsRow
  })
  return sortRows(rendered, query).slice(0, query.config.row_limit)
}

type Bucket = Readonly<Record<string, Value>>

interface RowParts {
  readonly head: MetricsRow
  readonly calls: Bucket[]
  readonly usage: Bucket[]
}

/** Merges the values of several models; null when none has one, as costs without a price. */
function merge(buckets: readonly Bucket[], aggregation: string, metric: string): number | null {
  const valuesOf = (name: string) =>
    buckets
      .map((bucket) => bucket[`${name}_${metric}`])
      .filter((value) => typeof value === 'number')
  const sumOf = (name: string) => valuesOf(name).reduce((sum, value) => sum + value, 0)
  const own = valuesOf(aggregation)
  if (buckets.length === 1 || own.length === 0) return own[0] ?? null
  if (aggregation === 'avg') return sumOf('sum') / sumOf('count')
  if (aggregation === 'min' || aggregation === 'max') return Math[aggregation](...own)
  // Percentiles of several buckets cannot be merged: a window that reaches beyond 2070 has two.
  return aggregation.startsWith('p') ? null : sumOf(aggregation)
}

function sortRows(rows: readonly MetricsRow[], { orderBy }: MetricsContent): MetricsRow[] {
  return [...rows].sort((left, right) => {
    for (const { field, direction } of orderBy ?? []) {
      const order = compare(left[field] ?? null, right[field] ?? null)
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return 0
  })
}

function compare(left: Value, right: Value): number {
  if (left === right) return 0
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
}

function unsupported(param: string, given: string, taken: readonly string[]): ApiError {
  const message = `${param}: ${given} is not supported here; use one of: ${taken.join(', ')}.`
  return new ApiError('unsupported_value', { param, message })
}
