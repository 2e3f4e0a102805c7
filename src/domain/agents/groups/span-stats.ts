/** Plans of statistics over agent spans: buckets, groups, metrics and filters, as plain data. Pure. */

import { ApiError } from '../../../errors.ts'
import type {
  AgentSpanStatsRequest,
  SpanBuckets,
  StatsColumn,
} from '../../../schemas/agents/agent-stats.ts'
import type { SpanMetric, SpanValueRef } from '../../../schemas/agents/span-values.ts'
import { NUMBER_BUCKETS } from '../../../schemas/limits.ts'
import { type BucketGrid, buildBucketGrid, type TimeWindow } from '../../stats/buckets.ts'
import { typeOfRef } from '../span-values.ts'
import {
  type GroupFilter,
  type GroupMeasure,
  type GroupRef,
  requireDistinct,
  requireSameGroups,
  resolveGroupFilters,
  resolveGroupRefs,
  resolveMeasure,
} from './measured-groups.ts'
import { requireAggregation, typeOfAggregate } from './span-measures.ts'

/** A metric; without a value it counts the spans or groups of a bucket, in a column named `count`. */
export type PlannedMetric =
  | SpanMetric
  | (Pick<SpanMetric, 'aggregations' | 'percentiles'> & { readonly value: null })

/** Ranges of a number, between the bounds or else over all values. */
export interface NumberBuckets {
  readonly alias: string
  readonly bins: number
  readonly min: number | null
  readonly max: number | null
  /** The number of a span, or of a group of spans. */
  readonly of: SpanValueRef | { readonly refs: readonly GroupRef[]; readonly measure: GroupMeasure }
}

export interface SpanStatsPlan {
  readonly window: TimeWindow
  readonly timezone: string
  readonly grid: BucketGrid
  /** null: the buckets are those of the grid. */
  readonly numbers: NumberBuckets | null
  readonly refs: readonly GroupRef[]
  readonly metrics: readonly PlannedMetric[]
  /** A span counts when its groups meet all of these. */
  readonly filters: readonly GroupFilter[]
  readonly groupLimit: number
}

const COUNT: PlannedMetric = { value: null, aggregations: ['count'], percentiles: [] }

/** The plan of a request. @throws ApiError validation_failed, query_invalid */
export function resolveSpanStats(
  request: AgentSpanStatsRequest,
  window: TimeWindow,
  groupLimitDefault: number,
): SpanStatsPlan {
  const { group_by, metrics, granularity, timezone, group_limit, bucket_by } = request
  const numbers = bucket_by ? resolveNumbers(bucket_by) : null
  const filters = resolveGroupFilters(request.group_filters)
  if (metrics.length === 0 && numbers === null) {
    throw invalid('metrics', 'metrics must have at least one entry.')
  }
  if (numbers !== null && 'refs' in numbers.of) {
    if (metrics.length > 0)
      throw invalid('metrics', 'metrics are of spans; these buckets count groups.')
    if (group_by && group_by.length > 0) {
      throw invalid('group_by', 'group_by is of spans; these buckets count groups.')
    }
    for (const [index, filter] of filters.entries()) {
      requireSameGroups(filter, numbers.of.refs, index)
    }
  }
  const plan = {
    window,
    timezone,
    refs: resolveGroupRefs(group_by, 'group_by'),
    grid: buildBucketGrid(window, granularity ?? null, timezone),
    numbers,
    metrics:
      metrics.length === 0
        ? [COUNT]
        : metrics.map((metric, index) => resolveMetric(metric, `metrics[${index}]`)),
    filters: filters.map((filter) => (filter.refs.length > 0 ? filter : byConversation(filter))),
    groupLimit: group_limit ?? groupLimitDefault,
  }
  requireDistinct(columnsOf(plan).map(({ name }) => name))
  return plan
}

function byConversation(filter: GroupFilter): GroupFilter {
  return { ...filter, refs: resolveGroupRefs([{ source: 'field', key: 'conversation_id' }], '') }
}

/** The ranges of a request; null for buckets of time. @throws ApiError validation_failed, query_invalid */
function resolveNumbers({ type, alias, bins, ...bucket }: SpanBuckets): NumberBuckets | null {
  const { value, group_by, measure } = bucket
  const min = bucket.min ?? null
  const max = bucket.max ?? null
  const isGrouped = (group_by ?? []).length > 0
  if (type === 'time') {
    const isGiven = ([, each]: [string, unknown]) => each !== undefined && each !== null
    const other = Object.entries({ ...bucket, alias, bins }).find(isGiven)
    if (other === undefined) return null
    throw invalid('bucket_by.type', `bucket_by.type must be number with ${other[0]}.`)
  }
  if (isGrouped !== Boolean(measure) || isGrouped === Boolean(value)) {
    throw invalid('bucket_by', 'bucket_by must have either value, or group_by and measure.')
  }
  if (min !== null && max !== null && max < min) {
    throw invalid('bucket_by.max', 'bucket_by.max must not be less than min.')
  }
  const common = { alias: alias ?? 'value', bins: bins ?? NUMBER_BUCKETS, min, max }
  if (value) {
    requireNumber(typeOfRef(value, 'bucket_by.value.key'), 'bucket_by.value')
    return { ...common, of: value }
  }
  const refs = resolveGroupRefs(group_by, 'bucket_by.group_by')
  const resolved = resolveMeasure(measure as NonNullable<typeof measure>, 'bucket_by.measure')
  requireNumber(resolved.type, 'bucket_by.measure')
  return { ...common, of: { refs, measure: resolved } }
}

function requireNumber(type: string, param: string): void {
  if (type !== 'number') throw invalid(param, `${param} must be a number, not a ${type}.`)
}

function resolveMetric(metric: SpanMetric, param: string): SpanMetric {
  const type = typeOfRef(metric.value, `${param}.value.key`)
  if (type !== metric.value_type) {
    throw invalid(`${param}.value_type`, `${param}.value_type must be ${type}.`)
  }
  for (const name of metric.aggregations) requireAggregation(type, name, `${param}.aggregations`)
  if (metric.percentiles.length > 0 && type !== 'number') {
    throw invalid(`${param}.percentiles`, `${param}.percentiles are for numbers only.`)
  }
  if (metric.aggregations.length + metric.percentiles.length > 0) return metric
  return { ...metric, aggregations: [type === 'number' ? 'sum' : 'count'] }
}

/** The columns of the rows, in order: buckets, groups, metrics. */
export function columnsOf({
  numbers,
  refs,
  metrics,
}: Pick<SpanStatsPlan, 'numbers' | 'refs' | 'metrics'>): StatsColumn[] {
  const plain = { metric: null, aggregation: null }
  const buckets: StatsColumn[] =
    numbers === null
      ? [{ name: 'timestamp', role: 'time', value_type: 'datetime', ...plain }]
      : ['bucket_index', 'bucket_min', 'bucket_max'].map((name) => ({
          name,
          role: 'bucket',
          value_type: 'number',
          metric: numbers.alias,
          aggregation: null,
        }))
  const groups = refs.map(({ name, type }): StatsColumn => {
    return { name, role: 'group', value_type: type, ...plain }
  })
  return [...buckets, ...groups, ...metrics.flatMap(columnsOfMetric)]
}

function columnsOfMetric(metric: PlannedMetric): StatsColumn[] {
  const { aggregations, percentiles } = metric
  const role = 'metric' as const
  if (metric.value === null) {
    return [{ name: 'count', role, value_type: 'number', metric: null, aggregation: 'count' }]
  }
  const { alias, value_type: type } = metric
  return [
    ...aggregations.map((aggregation) => ({
      name: `${aggregation}_${alias}`,
      role,
      value_type: typeOfAggregate(aggregation, type),
      metric: alias,
      aggregation,
    })),
    ...percentiles.map((percent) => {
      const aggregation = `p${String(percent).replace('.', '_')}`
      const name = `${aggregation}_${alias}`
      return { name, role, value_type: 'number' as const, metric: alias, aggregation }
    }),
  ]
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('validation_failed', { param, message })
}
