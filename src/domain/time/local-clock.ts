/** Local days of a time zone over a range. Fast: looks up the zone's transitions once. Pure. */
import { Temporal } from 'temporal-polyfill'

export const DAY_US = 86_400_000_000
const US_PER_MS = 1000

/** Days are counted from 1970-01-01 local; instants are microseconds since the epoch. */
export interface LocalClock {
  /**
   * The first instant at which the local clock shows midnight of the day or later. Where a change skips
   * midnight, that is the change. A day that a zone left out begins when the next one does.
   */
  startOfDayUs(day: number): number
  /** The first instant at which the clock shows a local time or later, counted from the local epoch. */
  firstAtUs(localUs: number): number
  /** The last day that has begun at the instant. */
  dayOf(us: number): number
}

/** A stretch with one offset. */
interface Stretch {
  readonly fromUs: number
  readonly offsetUs: number
}

/**
 * The clock of a zone, right between the two instants and two days around them.
 *
 * @throws RangeError for a zone that the runtime does not know
 */
export function createLocalClock(timeZone: string, fromUs: number, toUs: number): LocalClock {
  const stretches = findStretches(timeZone, fromUs - 3 * DAY_US, toUs + 3 * DAY_US)

  /** Index of the stretch that contains the instant; the first one also covers all earlier instants. */
  function indexOf(us: number): number {
    let low = 0
    let high = stretches.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((stretches[middle] as Stretch).fromUs <= us) low = middle
      else high = middle - 1
    }
    return low
  }

  function firstAtUs(localUs: number): number {
    let index = indexOf(localUs - DAY_US)
    for (; index < stretches.length - 1; index++) {
      const { fromUs: begin, offsetUs } = stretches[index] as Stretch
      const us = Math.max(localUs - offsetUs, begin)
      if (us < (stretches[index + 1] as Stretch).fromUs) return us
    }
    const last = stretches[index] as Stretch
    return Math.max(localUs - last.offsetUs, last.fromUs)
  }

  const startOfDayUs = (day: number) => firstAtUs(day * DAY_US)

  return {
    startOfDayUs,
    firstAtUs,
    dayOf(us) {
      const { offsetUs } = stretches[indexOf(us)] as Stretch
      let day = Math.floor((us + offsetUs) / DAY_US)
      // Near a change of the offset the local date may be off by one.
      while (startOfDayUs(day + 1) <= us) day += 1
      while (startOfDayUs(day) > us) day -= 1
      return day
    },
  }
}

function findStretches(timeZone: string, fromUs: number, toUs: number): Stretch[] {
  const fromMs = Math.floor(fromUs / US_PER_MS)
  let time = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timeZone)
  const stretches = [{ fromUs: Number.NEGATIVE_INFINITY, offsetUs: offsetUs(time) }]
  for (;;) {
    const next = time.getTimeZoneTransition('next')
    if (next === null || next.epochMilliseconds * US_PER_MS > toUs) return stretches
    time = next
    stretches.push({ fromUs: time.epochMilliseconds * US_PER_MS, offsetUs: offsetUs(time) })
  }
}

function offsetUs(time: Temporal.ZonedDateTime): number {
  return time.offsetNanoseconds / 1000
}
