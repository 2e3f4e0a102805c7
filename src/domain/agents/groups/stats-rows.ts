/** Statistics over agent spans, computed from the spans of a window in the order of their time. Pure. */

import { ApiError } from '../../../errors.ts'
import type { AgentSpanStatsResponse } from '../../../schemas/agents/agent-stats.ts'
import { renderTimestamp } from '../../../schemas/timestamp.ts'
import { createOrderStatistics } from '../../stats/order-statistics.ts'
import type { AgentSpan } from '../agent-span.ts'
import { valueOfRef } from '../span-values.ts'
import { createHistogram } from './histogram.ts'
import {
  createGroupMeasures,
  createGroups,
  type GroupFilter,
  type GroupMeasures,
  isInRange,
} from './measured-groups.ts'
import {
  type Budget,
  type Cell,
  createBudget,
  createMeasure,
  createPercentile,
  type Measure,
} from './span-measures.ts'
import {
  columnsOf,
  type NumberBuckets,
  type PlannedMetric,
  type SpanStatsPlan,
} from './span-stats.ts'

/** Limit: rows of one response. */
const ROWS_MAX = 20_000

/** One counted unit: a span, or a group of spans. */
interface Counted {
  /** Microseconds, or the number that is bucketed. */
  readonly at: number
  readonly groups: readonly Cell[]
  readonly cells: readonly Cell[]
}

/** Statistics of spans, which are added in the order of their time. @throws ApiError validation_failed for too many */
export function createSpanStats(plan: SpanStatsPlan) {
  const budget = createBudget()
  const { numbers } = plan
  const number = numbers === null ? null : numbers.of
  if (number !== null && 'refs' in number) return createGroupStats(plan, number, budget)
  const selection = createSelection(plan, budget)
  const table = numbers === null ? createTable(plan, timeBuckets(plan), budget) : null

  const read = (span: AgentSpan): Counted | null => {
    const at = number === null ? span.call.started_at_us : valueOfRef(span, number)
    if (typeof at !== 'number' || !Number.isFinite(at)) return null
    return {
      at,
      groups: plan.refs.map((ref) => valueOfRef(span, ref)),
      cells: plan.metrics.map(({ value }) => (value === null ? true : valueOfRef(span, value))),
    }
  }

  return {
    add(span: AgentSpan): void {
      const counted = read(span)
      if (table !== null && plan.filters.length === 0) {
        if (counted) table.add(counted)
      } else selection.add(span, counted)
    },
    result(): AgentSpanStatsResponse {
      const selected = selection.selected()
      const final = table ?? createTable(plan, numberBuckets(numbers, selected), budget)
      for (const counted of selected) final.add(counted)
      return render(plan, final.rows())
    },
  }
}

/** A buffer of what counts until the groups of the filters are complete. */
function createSelection({ filters }: SpanStatsPlan, budget: Budget) {
  const groupings = filters.map((filter) =>
    createGroups(filter.refs, budget, createGroupMeasures([filter.measure], budget)),
  )
  const buffer: { readonly counted: Counted; readonly groups: readonly GroupMeasures[] }[] = []
  return {
    /** @param counted - null for a span that is only part of its groups */
    add(span: AgentSpan, counted: Counted | null): void {
      const groups = groupings.map((grouping) => grouping.find(span))
      for (const group of groups) group.add(span)
      if (counted === null) return
      for (const cell of [null, ...counted.groups, ...counted.cells]) budget.keep(cell)
      buffer.push({ counted, groups })
    },
    selected(): Counted[] {
      const selected = groupings.map(
        (grouping, index) =>
          new Set(
            grouping.all().filter((group) => {
              const [value = null] = group.values()
              return isInRange(filters[index] as GroupFilter, value)
            }),
          ),
      )
      return buffer.flatMap(({ counted, groups }) =>
        groups.every((group, index) => selected[index]?.has(group)) ? [counted] : [],
      )
    },
  }
}

/** Statistics of groups by the value of their measure. */
function createGroupStats(
  plan: SpanStatsPlan,
  { refs, measure }: Extract<NumberBuckets['of'], { refs: unknown }>,
  budget: Budget,
) {
  const measures = [measure, ...plan.filters.map((filter) => filter.measure)]
  const groups = createGroups(refs, budget, createGroupMeasures(measures, budget))
  return {
    add(span: AgentSpan): void {
      groups.find(span).add(span)
    },
    result(): AgentSpanStatsResponse {
      const counted = groups.all().flatMap((group): Counted[] => {
        const [at, ...limited] = group.values()
        const isSelected = plan.filters.every((filter, index) =>
          isInRange(filter, limited[index] ?? null),
        )
        if (!isSelected || typeof at !== 'number' || !Number.isFinite(at)) return []
        return [{ at, groups: [], cells: [true] }]
      })
      const table = createTable(plan, numberBuckets(plan.numbers, counted), budget)
      for (const each of counted) table.add(each)
      return render(plan, table.rows())
    },
  }
}

interface Buckets {
  /** The cells of the bucket columns of each row, in order. */
  readonly heads: readonly (readonly Cell[])[]
  /** Index of the bucket; null outside all buckets. */
  indexOf(at: number): number | null
}

function timeBuckets({ grid: { startsUs } }: SpanStatsPlan): Buckets {
  // Spans come in the order of their time.
  let index = 0
  return {
    heads: Array.from(startsUs, (us) => [renderTimestamp(us)]),
    indexOf(us) {
      while (index + 1 < startsUs.length && (startsUs[index + 1] as number) <= us) index += 1
      return index
    },
  }
}

/** The buckets of numbers; none without a number, or when the only given bound is beyond all of them. */
function numberBuckets(numbers: NumberBuckets | null, counted: readonly Counted[]): Buckets {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { at } of counted) [low, high] = [Math.min(low, at), Math.max(high, at)]
  if (numbers === null || counted.length === 0) return { heads: [], indexOf: () => null }
  low = numbers.min ?? low
  high = numbers.max ?? high
  if (low > high) return { heads: [], indexOf: () => null }
  const histogram = createHistogram(low, high, numbers.bins)
  return {
    heads: Array.from({ length: histogram.size }, (_, index) => [
      index,
      histogram.min(index),
      histogram.max(index),
    ]),
    indexOf: (at) => (at < low || at > high ? null : histogram.indexOf(at)),
  }
}

interface Group {
  readonly values: readonly Cell[]
  size: number
  readonly buckets: Map<number, readonly Measure[]>
}

/** Rows by bucket, then group, the largest first. */
function createTable(plan: SpanStatsPlan, { heads, indexOf }: Buckets, budget: Budget) {
  const groups = new Map<string, Group>()
  const open = () => plan.metrics.flatMap((metric) => openMeasures(metric, budget))
  return {
    add({ at, groups: values, cells }: Counted): void {
      const bucket = indexOf(at)
      if (bucket === null) return
      const key = JSON.stringify(values)
      const group: Group = groups.get(key) ?? { values, size: 0, buckets: new Map() }
      if (!groups.has(key)) {
        budget.keep(key)
        groups.set(key, group)
      }
      group.size += 1
      let measures = group.buckets.get(bucket)
      if (!measures) {
        measures = open()
        group.buckets.set(bucket, measures)
        budget.take()
      }
      let from = 0
      for (const [index, { aggregations, percentiles }] of plan.metrics.entries()) {
        const to = from + aggregations.length + percentiles.length
        for (; from < to; from += 1) measures[from]?.add(cells[index] ?? null)
      }
    },
    rows(): AgentSpanStatsResponse['rows'] {
      const shown = [...groups.values()]
        .sort((left, right) => right.size - left.size)
        .slice(0, plan.groupLimit)
      if (plan.refs.length === 0 && shown.length === 0) {
        shown.push({ values: [], size: 0, buckets: new Map() })
      }
      if (shown.length * heads.length > ROWS_MAX) throw tooMany()
      const names = columnsOf(plan).map(({ name }) => name)
      const empty = open()
      return heads.flatMap((head, index) =>
        shown.map(({ values, buckets }) => {
          const measures = buckets.get(index) ?? empty
          const cells = [...head, ...values, ...measures.map((each) => each.value())]
          return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null]))
        }),
      )
    },
  }
}

/** Percentiles of one metric share its values. */
function openMeasures({ aggregations, percentiles }: PlannedMetric, budget: Budget): Measure[] {
  const [first, ...others] = percentiles
  const values = createOrderStatistics()
  const silent = { ...values, add: () => undefined }
  const free = createBudget(Number.POSITIVE_INFINITY)
  return [
    ...aggregations.map((name) => createMeasure(name, budget)),
    ...(first === undefined ? [] : [createPercentile(first, budget, values)]),
    ...others.map((percent) => createPercentile(percent, free, silent)),
  ]
}

function render(plan: SpanStatsPlan, rows: AgentSpanStatsResponse['rows']): AgentSpanStatsResponse {
  return {
    start: renderTimestamp(plan.window.startUs),
    end: renderTimestamp(plan.window.endUs),
    granularity: plan.numbers === null ? plan.grid.granularityS : null,
    timezone: plan.timezone,
    bucket_type: plan.numbers === null ? 'time' : 'number',
    columns: columnsOf(plan),
    rows,
  }
}

function tooMany(): ApiError {
  const message = `The response would have more than ${ROWS_MAX} rows: take longer buckets or fewer groups.`
  return new ApiError('validation_failed', { param: 'group_limit', message })
}
