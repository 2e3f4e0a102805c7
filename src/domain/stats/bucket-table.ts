/** The values of all buckets by column, filled while rows arrive in order of time. Pure. */

import { ATOMS_PER_USD } from '../prices/price-table.ts'
import { type Accumulator, createAccumulator, type Summary } from './aggregate.ts'
import type { Measured } from './exact-sum.ts'
import type { StatColumn } from './metric-names.ts'
import type { SortedValues } from './run-search.ts'

/** One entry per bucket; NaN means null. */
export interface BucketTable {
  /** Rows of each bucket. */
  readonly count: Float64Array
  /** One array per requested column. */
  readonly values: readonly Float64Array[]
}

interface BucketTableBuilder {
  /** Metrics of the columns, each once; `add` takes the index. */
  readonly metrics: readonly string[]
  /** Counts rows of the current bucket. */
  countRows(rows: number): void
  /** A value of a row; not called where the row has none. */
  add(metric: number, value: Measured): void
  /** Values of many rows, for sums, averages and counts alone. */
  addSum(metric: number, values: number, sum: Measured): void
  /** Values of many rows, for all but percentiles. */
  addSummary(metric: number, summary: Summary): void
  /** Values of many rows, for percentiles alone: from `from` to before `to`, ascending, not changed before the next flush. */
  addSorted(metric: number, sorted: SortedValues, from?: number, to?: number): void
  /** Whether percentiles of the metric were requested. */
  hasPercentiles(metric: number): boolean
  /** Stores what was added since the last flush as the values of a bucket. */
  flush(bucket: number): void
  readonly table: BucketTable
}

/**
 * A table without rows: sums, averages and counts are 0, the rest null.
 *
 * @param isMoney - whether a metric is counted in atoms
 *
 * Spec: §2.9 (empty buckets not shown). Choice: zero filled; only money that is unknown for all rows of a
 * bucket has null for its sum and average.
 */
export function createBucketTable(
  columns: readonly StatColumn[],
  buckets: number,
  isMoney: (metric: string) => boolean = () => false,
): BucketTableBuilder {
  const metrics = [...new Set(columns.map(({ metric }) => metric))]
  const ranked = metrics.map((metric) =>
    columns.some((column) => column.metric === metric && typeof column.of === 'number'),
  )
  const accumulators = metrics.map((metric, index) =>
    createAccumulator(isMoney(metric) ? ATOMS_PER_USD : 1, ranked[index] as boolean),
  )
  const sources = columns.map(({ metric }) => accumulators[metrics.indexOf(metric)] as Accumulator)
  const count = new Float64Array(buckets)
  const values = columns.map(({ of }) =>
    new Float64Array(buckets).fill(isZeroFilled(of) ? 0 : Number.NaN),
  )
  let rows = 0
  return {
    metrics,
    table: { count, values },
    countRows(more) {
      rows += more
    },
    add(metric, value) {
      accumulators[metric]?.add(value)
    },
    addSum(metric, more, sum) {
      accumulators[metric]?.addSum(more, sum)
    },
    addSummary(metric, summary) {
      accumulators[metric]?.addSummary(summary)
    },
    addSorted(metric, sorted, from, to) {
      accumulators[metric]?.addSorted(sorted, from, to)
    },
    hasPercentiles: (metric) => ranked[metric] === true,
    flush(bucket) {
      if (rows === 0) return
      count[bucket] = rows
      columns.forEach(({ metric, of }, index) => {
        const source = sources[index] as Accumulator
        const isUnknown =
          (of === 'sum' || of === 'avg') && isMoney(metric) && source.read('count') === 0
        const value = isUnknown ? null : source.read(of)
        ;(values[index] as Float64Array)[bucket] = value ?? Number.NaN
      })
      for (const accumulator of accumulators) accumulator.reset()
      rows = 0
    },
  }
}

function isZeroFilled(of: StatColumn['of']): boolean {
  return typeof of === 'string' && of !== 'min' && of !== 'max'
}
