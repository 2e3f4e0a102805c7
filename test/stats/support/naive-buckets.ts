/** The bucket of an instant, found the slow and obvious way: the oracle of the bucket tests. */
import { Temporal } from 'temporal-polyfill'

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
  if (granularityS < 86_400) {
    const midnightUs = time.startOfDay().epochMilliseconds * 1000
    return midnightUs + Math.floor((us - midnightUs) / lengthUs) * lengthUs
  }
  const days = granularityS / 86_400
  const since = MONDAY.until(time.toPlainDate(), { largestUnit: 'days' }).days
  const date = MONDAY.add({ days: Math.floor(since / days) * days })
  return date.toZonedDateTime(timeZone).epochMilliseconds * 1000
}
