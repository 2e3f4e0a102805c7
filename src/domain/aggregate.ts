/** Sums, extremes and exact percentiles of one metric, bucket after bucket. Pure. */
import type { StatColumn } from './metric-names.ts'

/**
 * A measured value in whole units of the metric; a bigint where a double would round it. Money is
 * counted in atoms, see cost.ts.
 */
export type Measured = number | bigint

/** Above it two parts could add up to more than a double counts exactly. */
const PART_MAX = 2 ** 52
const VALUES_MIN = 64

/** What is known of the values that were added since the last reset. */
export interface Accumulator {
  add(value: Measured): void
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
  let values = new Float64Array(keepsValues ? VALUES_MIN : 0)
  let isSorted = false

  function keep(value: number): void {
    if (count === values.length) {
      const larger = new Float64Array(values.length * 2)
      larger.set(values)
      values = larger
    }
    values[count] = value
    isSorted = false
  }

  /** The same, whatever the order of the values was. */
  function sum(): number {
    return (high === 0n ? low : Number(BigInt(low) + high)) / unitsPerOne
  }

  function percentile(percent: number): number | null {
    if (count === 0) return null
    const filled = values.subarray(0, count)
    if (!isSorted) filled.sort()
    isSorted = true
    return percentileOf(filled, percent) / unitsPerOne
  }

  return {
    add(value) {
      const rounded = Number(value)
      if (typeof value === 'bigint' || value > PART_MAX) high += BigInt(value)
      else low += value
      if (low > PART_MAX) {
        high += BigInt(low)
        low = 0
      }
      if (rounded < min) min = rounded
      if (rounded > max) max = rounded
      if (rounded === unitsPerOne) ones += 1
      if (rounded === 0) zeros += 1
      if (keepsValues) keep(rounded)
      count += 1
    },
    read(of) {
      if (typeof of === 'number') return percentile(of)
      if (of === 'sum') return sum()
      if (of === 'avg') return count === 0 ? 0 : sum() / count
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
      isSorted = false
    },
  }
}

/**
 * Percentile by linear interpolation at rank percent/100 * (n - 1).
 *
 * @param sorted - ascending, not empty
 * @param percent - 0..100
 *
 * Spec: §2.8 percentiles (method not shown). Choice: exact at any size.
 */
export function percentileOf(sorted: Float64Array, percent: number): number {
  const rank = (percent / 100) * (sorted.length - 1)
  const below = Math.floor(rank)
  const low = sorted[below] as number
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number
  return low + (high - low) * (rank - below)
}
