/** Metrics over values of payloads: the keys and functions to compute, and the numbers found in payloads. Pure. */
import { refuseField } from '../../errors.ts'
import type { ValueType } from '../../schemas/feedback/feedback.ts'
import type { FeedbackMetricSpec } from '../../schemas/feedback/feedback-stats.ts'
import type { Aggregation } from '../../schemas/stats/stats.ts'
import type { BucketTable } from '../stats/bucket-table.ts'
import { type StatColumn, toColumns } from '../stats/metric-names.ts'
import { type PayloadPath, parsePayloadPath, valuesAtPath } from './payload-path.ts'

/** A value of payloads. Plain data. */
interface FeedbackMetric {
  /** Names it in keys. */
  readonly slug: string
  readonly path: PayloadPath
  readonly valueType: ValueType
}

/** Checked metrics. Plain data. */
export interface FeedbackMetrics {
  readonly metrics: readonly FeedbackMetric[]
  /** Columns whose `metric` is a slug. */
  readonly columns: readonly StatColumn[]
}

const DEFAULTS: Readonly<Record<ValueType, readonly Aggregation[]>> = {
  numeric: ['avg', 'min', 'max'],
  boolean: ['count_true', 'count_false'],
  categorical: ['count'],
}

/**
 * Checks metrics of a request.
 *
 * Spec: §2.8 (metrics of payloads are an addition). Choice: a slug is the path with `_` for whatever is no letter,
 * digit or `_`; two values under one slug are refused, because their keys would be the same.
 *
 * @throws ApiError validation_failed; param is the field at fault
 */
export function resolveFeedbackMetrics(specs: readonly FeedbackMetricSpec[]): FeedbackMetrics {
  const metrics = new Map<string, FeedbackMetric>()
  const named = specs.map(({ json_path, value_type, aggregations, percentiles }, at) => {
    const param = `metrics[${at}]`
    const path = parsePayloadPath(json_path)
    if (path === null) {
      refuseField(`${param}.json_path`, 'must be a path as a.b, a["b-c"] or a[*].b')
    }
    const slug = slugOf(json_path)
    const metric = { slug, path, valueType: value_type }
    const other = metrics.get(slug)
    if (other && JSON.stringify(other) !== JSON.stringify(metric)) {
      refuseField(`${param}.json_path`, `has the same slug, ${slug}, as another metric`)
    }
    metrics.set(slug, metric)
    if (value_type !== 'numeric' && percentiles.length > 0) {
      refuseField(`${param}.percentiles`, 'are for numeric values only')
    }
    if (value_type === 'categorical' && aggregations.some((name) => name !== 'count')) {
      refuseField(`${param}.aggregations`, 'must be count for categorical values')
    }
    const isBare = aggregations.length === 0 && percentiles.length === 0
    return {
      metric: slug,
      percentiles,
      aggregations: isBare ? DEFAULTS[value_type] : aggregations,
    }
  })
  return { metrics: [...metrics.values()], columns: toColumns(named) }
}

function slugOf(json_path: string): string {
  const plain = json_path.replaceAll(/[^\p{L}\p{N}_]+/gu, '_')
  return plain.replaceAll(/^_|_$/gu, '') || '_'
}

/** The numbers that a payload has for a metric: 1 and 0 for true and false, 1 for each value of no type. */
export function* numbersOf(payload: unknown, metric: FeedbackMetric): Generator<number> {
  for (const value of valuesAtPath(payload, metric.path)) {
    const number = toNumber(value, metric.valueType)
    if (number !== null) yield number
  }
}

function toNumber(value: unknown, type: ValueType): number | null {
  if (type === 'numeric') return Number.isFinite(value) ? (value as number) : null
  if (type === 'boolean') return typeof value === 'boolean' ? Number(value) : null
  return value === null ? null : 1
}

/**
 * Values over a whole window, by slug and by aggregation or percentile.
 *
 * @param table - of one bucket
 * @param counts - values of each metric, in the order of the slugs
 */
export function renderWindowStats(
  { metrics, columns }: FeedbackMetrics,
  table: BucketTable,
  counts: Readonly<Record<string, number>>,
): Record<string, Record<string, number | null>> {
  const entries = metrics.map(({ slug }) => {
    const values = columns.flatMap(({ metric, of }, at) => {
      if (metric !== slug) return []
      const isUnknown = of === 'avg' && (counts[slug] ?? 0) === 0
      const value = table.values[at]?.[0] ?? Number.NaN
      const name = typeof of === 'number' ? `p${of}` : of
      return [[name, isUnknown || Number.isNaN(value) ? null : value] as const]
    })
    return [slug, Object.fromEntries(values)] as const
  })
  return Object.fromEntries(entries)
}
