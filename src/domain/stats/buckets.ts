/**
 * Divides a window into buckets, as sorted instants, and chooses their length. Every store gets this list and does no time zone arithmetic
 * itself. Pure.
 */
import { createLocalClock, DAY_US, type LocalClock } from '../time/local-clock.ts'

/** Limit: buckets of one response. Spec: §4.4 granularity, §8 calls stats. */
export const BUCKETS_MAX = 10_000

const US_PER_S = 1_000_000
const MINUTE_S = 60
export const HOUR_S = 3600
const DAY_S = 86_400
const WEEK_S = 7 * DAY_S
/** 1970-01-05, a Monday. */
const ANCHOR_DAY = 4

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

/** A half-open window [startUs, endUs), microseconds since the epoch, startUs <= endUs. */
export interface TimeWindow {
  readonly startUs: number
  readonly endUs: number
}

export interface BucketGrid {
  /** Seconds of a bucket. */
  readonly granularityS: number
  /**
   * Starts of the buckets, microseconds, ascending. A bucket ends where the next begins, the last one with the
   * window. The first may begin before the window. Empty only for an empty window.
   */
  readonly startsUs: Float64Array
}

/**
 * The grid over a window. A length that gives too many buckets is widened to the next round one.
 *
 * @param requestedS - from the request, whole seconds > 0, or null
 * @param timeZone - a zone that the runtime knows
 *
 * Spec: §4.4 granularity, timezone; §8 calls stats. Choice: a length that divides a day starts at local
 * midnight. From an hour on it follows the wall clock: 12 hours begin at 00:00 and 12:00 on every day, and a
 * change of clocks makes a bucket shorter or longer; time that the clock shows twice is a bucket of its own
 * where it fills one, as an hour does. Shorter lengths step in elapsed time and are cut at the next midnight.
 * Whole days are local days, weeks begin on Monday and other numbers of days are counted from Monday
 * 1970-01-05; all other lengths are aligned to the epoch.
 */
export function buildBucketGrid(
  window: TimeWindow,
  requestedS: number | null,
  timeZone: string,
): BucketGrid {
  const rangeUs = window.endUs - window.startUs
  let granularityS = requestedS ?? autoGranularityS(rangeUs)
  for (;;) {
    const isPossible = rangeUs / (granularityS * US_PER_S) <= BUCKETS_MAX
    const starts = isPossible ? findStarts(window, granularityS, timeZone) : null
    if (starts !== null) return { granularityS, startsUs: Float64Array.from(starts) }
    granularityS = nextRoundS(granularityS)
  }
}

/** The starts for one length; null when there are more than BUCKETS_MAX. */
function findStarts(window: TimeWindow, granularityS: number, timeZone: string): number[] | null {
  const lengthUs = granularityS * US_PER_S
  if (granularityS % DAY_S !== 0 && DAY_S % granularityS !== 0) {
    return limited(epochStarts(window, lengthUs))
  }
  const clock = createLocalClock(timeZone, window.startUs - lengthUs, window.endUs)
  if (granularityS % DAY_S === 0) return limited(dayStarts(window, granularityS / DAY_S, clock))
  const starts = granularityS < HOUR_S ? partsOfDays : wallClockStarts
  return limited(starts(window, lengthUs, clock))
}

function* epochStarts({ startUs, endUs }: TimeWindow, lengthUs: number): Generator<number> {
  for (let us = Math.floor(startUs / lengthUs) * lengthUs; us < endUs; us += lengthUs) yield us
}

function* partsOfDays(
  { startUs, endUs }: TimeWindow,
  lengthUs: number,
  clock: LocalClock,
): Generator<number> {
  let day = clock.dayOf(startUs)
  const midnightUs = clock.startOfDayUs(day)
  let us = midnightUs + Math.floor((startUs - midnightUs) / lengthUs) * lengthUs
  let nextMidnightUs = clock.startOfDayUs(day + 1)
  while (us < endUs) {
    yield us
    us = Math.min(us + lengthUs, nextMidnightUs)
    // More than once only where a zone skipped a day.
    while (us < endUs && us >= nextMidnightUs) {
      day += 1
      nextMidnightUs = clock.startOfDayUs(day + 1)
    }
  }
}

function* wallClockStarts(
  { startUs, endUs }: TimeWindow,
  lengthUs: number,
  clock: LocalClock,
): Generator<number> {
  // From the midnight before: the first starts may end before the window.
  let localUs = clock.dayOf(startUs) * DAY_US
  for (let us = clock.firstAtUs(localUs); us < endUs; ) {
    localUs += lengthUs
    const nextUs = clock.firstAtUs(localUs)
    for (; nextUs - us >= 2 * lengthUs; us += lengthUs) {
      if (us < endUs && us + lengthUs > startUs) yield us
    }
    // Nothing where a change skips all of it.
    if (us < endUs && nextUs > us && nextUs > startUs) yield us
    us = nextUs
  }
}

function* dayStarts(
  { startUs, endUs }: TimeWindow,
  days: number,
  clock: LocalClock,
): Generator<number> {
  let day = ANCHOR_DAY + Math.floor((clock.dayOf(startUs) - ANCHOR_DAY) / days) * days
  let last = Number.NEGATIVE_INFINITY
  for (let us = clock.startOfDayUs(day); us < endUs; us = clock.startOfDayUs(day)) {
    if (us > last) yield us
    last = us
    day += days
  }
}

function limited(starts: Iterable<number>): number[] | null {
  const list: number[] = []
  for (const us of starts) {
    if (list.length === BUCKETS_MAX) return null
    list.push(us)
  }
  return list
}

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
