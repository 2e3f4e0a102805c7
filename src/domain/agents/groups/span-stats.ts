/** Statistics over agent spans in buckets of time. Pure. */

import { ApiError } from '../../../errors.ts'
import type {
  AgentSpanStatsRequest,
  AgentSpanStatsResponse,
  StatsColumn,
} from '../../../schemas/agents/agent-stats.ts'
import type { SpanGroupRef, SpanMetric } from '../../../schemas/agents/span-values.ts'
import { renderTimestamp } from '../../../schemas/timestamp.ts'
import { type BucketGrid, buildBucketGrid, type TimeWindow } from '../../stats/buckets.ts'
import { createOrderStatistics } from '../../stats/order-statistics.ts'
import type { AgentSpan } from '../agent-span.ts'
import { typeOfRef, type ValueType, valueOfRef } from '../span-values.ts'
import { nameOfGroup, requireDistinct } from './span-groups.ts'
import {
  type Cell,
  createBudget,
  createMeasure,
  createPercentile,
  type Measure,
  requireAggregation,
} from './span-measures.ts'

/** Limit: rows of one answer. */
const ROWS_MAX = 20_000

export interface SpanStatsPlan {
  readonly window: TimeWindow
  readonly timezone: string
  readonly grid: BucketGrid
  readonly refs: readonly (SpanGroupRef & { readonly name: string; readonly type: ValueType })[]
  readonly metrics: readonly SpanMetric[]
  readonly groupLimit: number
}

/** @throws ApiError validation_failed */
export function resolveSpanStats(
  { group_by, metrics, granularity, timezone, group_limit }: AgentSpanStatsRequest,
  window: TimeWindow,
  groupLimitDefault: number,
): SpanStatsPlan {
  const refs = (group_by ?? []).map((ref, index) => {
    const type = typeOfRef(ref, `group_by[${index}].key`)
    return { ...ref, name: nameOfGroup(ref), type }
  })
  const plan = {
    window,
    timezone,
    refs,
    grid: buildBucketGrid(window, granularity ?? null, timezone),
    metrics: metrics.map((metric, index) => resolveMetric(metric, `metrics[${index}]`)),
    groupLimit: group_limit ?? groupLimitDefault,
  }
  requireDistinct(columnsOf(plan).map(({ name }) => name))
  return plan
}

function resolveMetric(metric: SpanMetric, param: string): SpanMetric {
  const type = typeOfRef(metric.value, `${param}.value.key`)
  if (type !== metric.value_type) {
    const message = `${param}.value_type must be ${type}.`
    throw new ApiError('validation_failed', { param: `${param}.value_type`, message })
  }
  for (const name of metric.aggregations) requireAggregation(type, name, `${param}.aggregations`)
  if (metric.percentiles.length > 0 && type !== 'number') {
    const message = `${param}.percentiles are for numbers only.`
    throw new ApiError('validation_failed', { param: `${param}.percentiles`, message })
  }
  if (metric.aggregations.length + metric.percentiles.length > 0) return metric
  return { ...metric, aggregations: [type === 'number' ? 'sum' : 'count'] }
}

interface Group {
  readonly values: readonly Cell[]
  spans: number
  readonly buckets: Map<number, readonly Measure[]>
}

/** @throws ApiError validation_failed for too many rows or values */
export function createSpanStats(plan: SpanStatsPlan) {
  const { startsUs } = plan.grid
  const budget = createBudget()
  const groups = new Map<string, Group>()
  const open = () => plan.metrics.map((metric) => openMeasures(metric, budget))
  // Spans come in the order of their time.
  let bucket = 0

  return {
    add(span: AgentSpan): void {
      const us = span.call.started_at_us
      while (bucket + 1 < startsUs.length && (startsUs[bucket + 1] as number) <= us) bucket += 1
      const values = plan.refs.map((ref) => valueOfRef(span, ref))
      const key = JSON.stringify(values)
      const group: Group = groups.get(key) ?? { values, spans: 0, buckets: new Map() }
      if (!groups.has(key)) {
        budget.take()
        groups.set(key, group)
      }
      group.spans += 1
      let measures = group.buckets.get(bucket)
      if (!measures) {
        measures = open().flat()
        group.buckets.set(bucket, measures)
        budget.take()
      }
      let at = 0
      for (const { value, aggregations, percentiles } of plan.metrics) {
        const cell = valueOfRef(span, value)
        const end = at + aggregations.length + percentiles.length
        for (; at < end; at += 1) measures[at]?.add(cell)
      }
    },
    answer(): AgentSpanStatsResponse {
      const shown = [...groups.values()]
        .sort((left, right) => right.spans - left.spans)
        .slice(0, plan.groupLimit)
      if (plan.refs.length === 0 && shown.length === 0) {
        shown.push({ values: [], spans: 0, buckets: new Map() })
      }
      if (shown.length * startsUs.length > ROWS_MAX) throw tooMany()
      const columns = columnsOf(plan)
      const empty = open().flat()
      const rows = Array.from(startsUs, (us, index) =>
        shown.map(({ values, buckets }) => {
          const measures = buckets.get(index) ?? empty
          const cells = [renderTimestamp(us), ...values, ...measures.map((each) => each.value())]
          return Object.fromEntries(columns.map(({ name }, at) => [name, cells[at] ?? null]))
        }),
      ).flat()
      return {
        start: renderTimestamp(plan.window.startUs),
        end: renderTimestamp(plan.window.endUs),
        granularity: plan.grid.granularityS,
        timezone: plan.timezone,
        bucket_type: 'time',
        columns,
        rows,
      }
    },
  }
}

/** Percentiles of one metric share its values. */
function openMeasures(
  { aggregations, percentiles }: SpanMetric,
  budget: ReturnType<typeof createBudget>,
): Measure[] {
  const [first, ...others] = percentiles
  const values = createOrderStatistics()
  const free = { take: () => undefined }
  const silent = { ...values, add: () => undefined }
  return [
    ...aggregations.map((name) => createMeasure(name, budget)),
    ...(first === undefined ? [] : [createPercentile(first, budget, values)]),
    ...others.map((percent) => createPercentile(percent, free, silent)),
  ]
}

function columnsOf({ refs, metrics }: Pick<SpanStatsPlan, 'refs' | 'metrics'>): StatsColumn[] {
  const plain = { metric: null, aggregation: null }
  return [
    { name: 'timestamp', role: 'time', value_type: 'datetime', ...plain },
    ...refs.map(({ name, type }) => ({
      name,
      role: 'group' as const,
      value_type: type,
      ...plain,
    })),
    ...metrics.flatMap(({ alias, value_type, aggregations, percentiles }) => [
      ...aggregations.map((aggregation) => ({
        name: `${aggregation}_${alias}`,
        role: 'metric' as const,
        aggregation,
        metric: alias,
        value_type:
          value_type === 'datetime' && !aggregation.startsWith('count')
            ? ('datetime' as const)
            : ('number' as const),
      })),
      ...percentiles.map((percent) => {
        const aggregation = `p${String(percent).replace('.', '_')}`
        const name = `${aggregation}_${alias}`
        const value_type = 'number' as const
        return { name, role: 'metric' as const, value_type, metric: alias, aggregation }
      }),
    ]),
  ]
}

function tooMany(): ApiError {
  const message = `The answer would have more than ${ROWS_MAX} rows: take longer buckets or fewer groups.`
  return new ApiError('validation_failed', { param: 'group_limit', message })
}
