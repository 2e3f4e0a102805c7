/** Resolves metric specs to the columns of a bucket: their computation, and their keys in the response. Pure. */
import type { Aggregation } from '../../schemas/stats/stats.ts'

/** One value of each bucket. */
export interface StatColumn<Metric extends string = string> {
  readonly key: string
  readonly metric: Metric
  /** An aggregation, or a percentile 0..100. */
  readonly of: Aggregation | number
}

/** Whether a metric is a sum of money and so needs prices. */
export function isMoney(metric: string): boolean {
  return metric === 'input_cost' || metric === 'output_cost' || metric === 'total_cost'
}

interface MetricSpec<Metric extends string> {
  readonly metric: Metric
  readonly aggregations: readonly Aggregation[]
  readonly percentiles: readonly number[]
}

/**
 * The columns of a list of specs, in request order; a repeated key is included once.
 *
 * Spec: §2.8, §4.4 (key names not shown). Choice: `<aggregation>_<metric>`, `p95_latency_ms`; a spec
 * with neither aggregations nor percentiles gives the sum.
 */
export function toColumns<Metric extends string>(
  specs: readonly MetricSpec<Metric>[],
): StatColumn<Metric>[] {
  const columns = new Map<string, StatColumn<Metric>>()
  for (const { metric, aggregations, percentiles } of specs) {
    const isBare = aggregations.length === 0 && percentiles.length === 0
    for (const of of isBare ? (['sum'] as const) : [...aggregations, ...percentiles]) {
      const key = typeof of === 'number' ? `p${of}_${metric}` : `${of}_${metric}`
      if (!columns.has(key)) columns.set(key, { key, metric, of })
    }
  }
  return [...columns.values()]
}
