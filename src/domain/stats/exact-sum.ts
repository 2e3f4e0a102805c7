/** Sums and means with an exact integer part, for any order and magnitude of the values. Pure. */

/**
 * A measured value, in whole units of the metric where these are counted exactly; a bigint where a double would round
 * it. Money is counted in atoms, see cost.ts.
 */
export type Measured = number | bigint

/** Upper bound of a part, above which the sum of two could exceed what a double counts exactly. */
const PART_MAX = 2 ** 52

/** An exact sum, which is `low` plus `high`. */
export interface ExactSum {
  count: number
  low: number
  high: bigint
}

export function createSum(): ExactSum {
  return { count: 0, low: 0, high: 0n }
}

/** @param count - how many values it is the sum of */
export function addToSum(sum: ExactSum, value: Measured, count = 1): void {
  sum.count += count
  if (typeof value === 'bigint') sum.high += value
  else if (Math.abs(value) > PART_MAX) sum.high += BigInt(withinDoubles(value))
  else sum.low += value
  if (Math.abs(sum.low) > PART_MAX) {
    sum.high += BigInt(sum.low)
    sum.low = 0
  }
}

/** @param unitsPerOne - units per 1 in the result */
export function totalOf(sum: ExactSum, unitsPerOne = 1): number {
  return withinDoubles((sum.high === 0n ? sum.low : Number(wholeOf(sum))) / unitsPerOne)
}

/** Returns the mean, also of values whose sum exceeds the doubles. That of nothing is 0. */
export function meanOf(sum: ExactSum, unitsPerOne = 1): number {
  if (sum.count === 0) return 0
  const total = totalOf(sum, unitsPerOne)
  const isBeyond = Math.abs(total) === Number.MAX_VALUE
  return isBeyond ? Number(wholeOf(sum) / BigInt(sum.count)) / unitsPerOne : total / sum.count
}

function wholeOf({ low, high }: ExactSum): bigint {
  return BigInt(Math.trunc(low)) + high
}

/** Clamps numbers to the range of doubles, since JSON has no infinity. */
export function withinDoubles(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
