/** The bucket of an instant, found the slow and obvious way: the oracle of the bucket tests. */
import { Temporal } from 'temporal-polyfill'

/** The first instant at which the clock shows the time, or has skipped it. */
function firstShownMs(at: Temporal.PlainDateTime, timeZone: string): number {
  const early = at.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  if (early.toPlainDateTime().equals(at)) return early.epochMilliseconds
  return early.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.NaN
}

/** Starts of a day's buckets, and of the one after them; microseconds. */
function startsOfDay(date: Temporal.PlainDate, granularityS: number, timeZone: string): number[] {
  const midnight = date.toPlainDateTime()
  const starts: number[] = []
  for (let second = 0; second <= 86_400; second += granularityS) {
    starts.push(firstShownMs(midnight.add({ seconds: second }), timeZone) * 1000)
  }
  return starts
}

/** What was found for a day, for the tests ask for each of its instants. */
const foundStarts = new Map<string, number[]>()

function wallClockStartUs(
  us: number,
  date: Temporal.PlainDate,
  granularityS: number,
  timeZone: string,
): number {
  const lengthUs = granularityS * 1e6
  const key = `${date} ${granularityS} ${timeZone}`
  const starts = foundStarts.get(key) ?? startsOfDay(date, granularityS, timeZone)
  foundStarts.set(key, starts)
  const place = starts.findLastIndex((start) => start <= us)
  const [start, next] = [starts[place] as number, starts[place + 1] as number]
  // Local time that occurs twice counts separately if it fills a bucket.
  const parts = Math.max(1, Math.floor((next - start) / lengthUs))
  return start + Math.min(Math.floor((us - start) / lengthUs), parts - 1) * lengthUs
}

const MONDAY = Temporal.PlainDate.from('1970-01-05')

/** Where the bucket that holds the instant begins; microseconds. */
export function naiveBucketStartUs(us: number, granularityS: number, timeZone: string): number {
  const lengthUs = granularityS * 1e6
  if (granularityS % 86_400 !== 0 && 86_400 % granularityS !== 0) {
    return Math.floor(us / lengthUs) * lengthUs
  }
  const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(us / 1000)).toZonedDateTimeISO(
    timeZone,
  )
  if (granularityS >= 3600 && granularityS < 86_400) {
    return wallClockStartUs(us, time.toPlainDate(), granularityS, timeZone)
  }
  if (granularityS < 86_400) {
    const midnightUs = time.startOfDay().epochMilliseconds * 1000
    return midnightUs + Math.floor((us - midnightUs) / lengthUs) * lengthUs
  }
  const days = granularityS / 86_400
  const since = MONDAY.until(time.toPlainDate(), { largestUnit: 'days' }).days
  const date = MONDAY.add({ days: Math.floor(since / days) * days })
  return date.toZonedDateTime(timeZone).epochMilliseconds * 1000
}
