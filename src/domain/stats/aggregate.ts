/** Sums, extremes and exact percentiles of one metric, bucket after bucket. Pure. */
import type { StatColumn } from './metric-names.ts'
import { createOrderStatistics } from './order-statistics.ts'
import type { SortedValues } from './run-search.ts'
import { withinDoubles } from './within-doubles.ts'

/**
 * A measured value, in whole units of the metric where these are counted exactly; a bigint where a double would round
 * it. Money is counted in atoms, see cost.ts.
 */
export type Measured = number | bigint

/** Above it two parts could add up to more than a double counts exactly. */
const PART_MAX = 2 ** 52

/** Many values at once, without the values. */
export interface Summary {
  readonly count: number
  readonly sum: Measured
  readonly min: number
  readonly max: number
  /** How many are 1, and how many 0. */
  readonly ones: number
  readonly zeros: number
}

/** What is known of the values that were added since the last reset. */
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
  /** The column's value in units, or null where there is none. */
  read(of: StatColumn['of']): number | null
  reset(): void
}

/**
 * @param unitsPerOne - measured units that make 1 in the answer: 1, or 10^15 atoms a dollar
 * @param keepsValues - whether percentiles will be read; 8 bytes a value
 */
export function createAccumulator(unitsPerOne: number, keepsValues: boolean): Accumulator {
  let count = 0
  let low = 0
  let high = 0n
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let ones = 0
  let zeros = 0
  const order = keepsValues ? createOrderStatistics() : null

  function addToSum(value: Measured): void {
    if (typeof value === 'bigint' || Math.abs(value) > PART_MAX) high += BigInt(value)
    else low += value
    if (Math.abs(low) > PART_MAX) {
      high += BigInt(low)
      low = 0
    }
  }

  const wholeSum = () => BigInt(Math.trunc(low)) + high

  /** The same, whatever the order of the values was. */
  function sum(): number {
    return withinDoubles((high === 0n ? low : Number(wholeSum())) / unitsPerOne)
  }

  function average(): number {
    if (count === 0) return 0
    const total = sum()
    const isBeyond = Math.abs(total) === Number.MAX_VALUE
    return isBeyond ? Number(wholeSum() / BigInt(count)) / unitsPerOne : total / count
  }

  function percentile(percent: number): number | null {
    return order === null || count === 0 ? null : order.percentile(percent) / unitsPerOne
  }

  return {
    add(value) {
      const rounded = Number(value)
      addToSum(value)
      if (rounded < min) min = rounded
      if (rounded > max) max = rounded
      if (rounded === unitsPerOne) ones += 1
      if (rounded === 0) zeros += 1
      order?.add(rounded)
      count += 1
    },
    addSum(more, sum) {
      addToSum(sum)
      count += more
    },
    addSummary(summary) {
      addToSum(summary.sum)
      min = Math.min(min, summary.min)
      max = Math.max(max, summary.max)
      ones += summary.ones
      zeros += summary.zeros
      count += summary.count
    },
    addSorted(sorted, from, to) {
      order?.addSorted(sorted, from, to)
    },
    read(of) {
      if (typeof of === 'number') return percentile(of)
      if (of === 'sum') return sum()
      if (of === 'avg') return average()
      if (of === 'count') return count
      if (of === 'count_true') return ones
      if (of === 'count_false') return zeros
      return count === 0 ? null : (of === 'min' ? min : max) / unitsPerOne
    },
    reset() {
      count = 0
      low = 0
      high = 0n
      min = Number.POSITIVE_INFINITY
      max = Number.NEGATIVE_INFINITY
      ones = 0
      zeros = 0
      order?.reset()
    },
  }
}
