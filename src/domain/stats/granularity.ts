/** Chooses the length of a bucket. Pure numbers; time zones matter only in buckets.ts. */

const MINUTE_S = 60
export const HOUR_S = 3600
export const DAY_S = 86_400
const WEEK_S = 7 * DAY_S
const US_PER_S = 1_000_000

/** Spec: §4.4 granularity (the choice by range is not shown). Choice: the table of Weave. */
const AUTO_STEPS: readonly (readonly [rangeMaxS: number, granularityS: number])[] = [
  [2 * HOUR_S, 5 * MINUTE_S],
  [12 * HOUR_S, HOUR_S],
  [3 * DAY_S, 6 * HOUR_S],
  [14 * DAY_S, 12 * HOUR_S],
]

const SECONDS = [1, 5, 10, 15, 30]
const ROUND_LENGTHS_S: readonly number[] = [
  ...SECONDS,
  ...SECONDS.map((minutes) => minutes * MINUTE_S),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_S),
  DAY_S,
]

/** Seconds of a bucket for a window of this length. Spec: §4.4 granularity. */
export function autoGranularityS(rangeUs: number): number {
  const step = AUTO_STEPS.find(([rangeMaxS]) => rangeUs <= rangeMaxS * US_PER_S)
  return step ? step[1] : DAY_S
}

/**
 * The next longer round length in seconds: 1 5 10 15 30 s, the same in minutes, 1 3 6 12 h, 1 d, then
 * multiples of 7 d.
 *
 * Spec: §4.4 granularity ("adjusted" if it would give more than 10,000 buckets). Choice: round lengths.
 */
export function nextRoundS(granularityS: number): number {
  const next = ROUND_LENGTHS_S.find((length) => length > granularityS)
  return next ?? (Math.floor(granularityS / WEEK_S) + 1) * WEEK_S
}

/** The next round length that is at least twice as long. */
export function doubleRoundS(granularityS: number): number {
  return nextRoundS(2 * granularityS - 1)
}
