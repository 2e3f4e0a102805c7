/** Times on the wire: RFC 3339 text outside, whole microseconds since the epoch inside. */
const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,18}))?(?:([Zz])|([+-])(\d\d):?(\d\d))?$/
const US_PER_MS = 1000
const MS_PER_MINUTE = 60_000
/** Microseconds stay exact in a double until the year 2255. */
const MIN_US = Date.UTC(1900, 0, 1) * US_PER_MS
const END_US = Date.UTC(2255, 0, 1) * US_PER_MS

/**
 * Parses a date-time to microseconds. An offset is optional, none means UTC; digits after the sixth are cut.
 *
 * @returns null when the text is no date-time or lies outside the years 1900..2254 of UTC
 *
 * Spec: §2.5 date-time. Choice: a leap second counts as the first second of the next minute.
 */
export function parseTimestampUs(text: string): number | null {
  const match = SHAPE.exec(text)
  if (!match) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (hour > 23 || minute > 59 || second > 60) return null
  const date = new Date(Date.UTC(year, month - 1, day))
  // Date.UTC takes the years 0..99 for 1900..1999, and days past the end of a month for the next one.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1) return null
  if (date.getUTCDate() !== day) return null
  const offsetHours = Number(match[10] ?? 0)
  const offsetMinutes = Number(match[11] ?? 0)
  if (offsetHours > 23 || offsetMinutes > 59) return null
  const offset = (match[9] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes)
  const ms = Date.UTC(year, month - 1, day, hour, minute, second) - offset * MS_PER_MINUTE
  const micros = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'))
  const us = ms * US_PER_MS + micros
  return us >= MIN_US && us < END_US ? us : null
}

/**
 * Renders microseconds as RFC 3339 with `Z` and six digits.
 *
 * @param us - whole microseconds since the epoch, years 0..9999
 */
export function renderTimestamp(us: number): string {
  const ms = Math.floor(us / US_PER_MS)
  const rest = us - ms * US_PER_MS
  const text = new Date(ms).toISOString()
  return `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** Renders a time as RFC 3339 text, or null as null. */
export function renderTimestampOrNull(us: number | null): string | null {
  return us === null ? null : renderTimestamp(us)
}

/**
 * Returns the microseconds of a text that the schema `Timestamp` has accepted.
 *
 * @throws TypeError when it was never checked
 */
export function timestampUs(text: string): number {
  const us = parseTimestampUs(text)
  if (us === null) throw new TypeError('an unchecked date-time')
  return us
}
