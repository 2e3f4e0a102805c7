/** Sums, extremes and exact percentiles of one metric, bucket by bucket. Pure. */
import { addToSum, createSum, type Measured, meanOf, totalOf } from './exact-sum.ts'
import type { StatColumn } from './metric-names.ts'
import { createOrderStatistics } from './order-statistics.ts'
import type { SortedValues } from './run-search.ts'

/** Aggregates of many values. */
export interface Summary {
  readonly count: number
  readonly sum: Measured
  readonly min: number
  readonly max: number
  /** Number of values that are 1, and number of those that are 0. */
  readonly ones: number
  readonly zeros: number
}

/** Aggregates of the values added since the last reset. */
export interface Accumulator {
  add(value: Measured): void
  /** Adds values to the sum, the average and the count alone. */
  addSum(count: number, sum: Measured): void
  /** Adds values to all but the percentiles. */
  addSummary(summary: Summary): void
  /**
   * Adds values to the percentiles alone.
   *
   * @param sorted - ascending from `from` to before `to`; not changed before the next reset
   */
  addSorted(sorted: SortedValues, from?: number, to?: number): void
  /** The column's value in units, or null. */
  read(of: StatColumn['of']): number | null
  reset(): void
}

/**
 * @param unitsPerOne - measured units that make 1 in the response: 1, or 10^15 atoms a dollar
 * @param keepsValues - whether percentiles will be read; 8 bytes a value
 */
export function createAccumulator(unitsPerOne: number, keepsValues: boolean): Accumulator {
  let sum = createSum()
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let ones = 0
  let zeros = 0
  const order = keepsValues ? createOrderStatistics() : null

  function percentile(percent: number): number | null {
    return order === null || sum.count === 0 ? null : order.percentile(percent) / unitsPerOne
  }

  return {
    add(value) {
      const rounded = Number(value)
      addToSum(sum, value)
      if (rounded < min) min = rounded
      if (rounded > max) max = rounded
      if (rounded === unitsPerOne) ones += 1
      if (rounded === 0) zeros += 1
      order?.add(rounded)
    },
    addSum(count, value) {
      addToSum(sum, value, count)
    },
    addSummary(summary) {
      addToSum(sum, summary.sum, summary.count)
      min = Math.min(min, summary.min)
      max = Math.max(max, summary.max)
      ones += summary.ones
      zeros += summary.zeros
    },
    addSorted(sorted, from, to) {
      order?.addSorted(sorted, from, to)
    },
    read(of) {
      if (typeof of === 'number') return percentile(of)
      if (of === 'sum') return totalOf(sum, unitsPerOne)
      if (of === 'avg') return meanOf(sum, unitsPerOne)
      if (of === 'count') return sum.count
      if (of === 'count_true') return ones
      if (of === 'count_false') return zeros
      return sum.count === 0 ? null : (of === 'min' ? min : max) / unitsPerOne
    },
    reset() {
      sum = createSum()
      min = Number.POSITIVE_INFINITY
      max = Number.NEGATIVE_INFINITY
      ones = 0
      zeros = 0
      order?.reset()
    },
  }
}
