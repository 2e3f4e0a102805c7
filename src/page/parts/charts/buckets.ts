/** The positions of a chart's buckets on its scale. Pure. */

/** Returns the end of the last bucket, which by default is as long as the one before. */
export function endOf(times: readonly number[], end?: number): number {
  const last = times.at(-1) ?? 0
  return end ?? last + (last - (times.at(-2) ?? last - 1))
}

/**
 * Returns the end of the last bucket of a response. Where clocks are set back, a day is longer than its granularity
 * says.
 *
 * @param times - starts of buckets, seconds
 */
export function endOfResponse(
  times: readonly number[],
  { granularity, end }: { readonly granularity: number; readonly end: string },
): number {
  return Math.max((times.at(-1) ?? 0) + granularity, Date.parse(end) / 1000)
}

/** Returns the middle of each bucket, where its value is drawn. */
export function middlesOf(times: readonly number[], end: number): number[] {
  return times.map((time, at) => (time + (times[at + 1] ?? end)) / 2)
}

/** Returns the index of the bucket at a position; outside, the first or the last. */
export function bucketAt(times: readonly number[], place: number): number {
  return Math.max(
    0,
    times.findLastIndex((time) => time <= place),
  )
}
