/** Writes timestamps as bytes; fast for sequences of them. Pure. */
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { utf8 } from '../json/json-bytes.ts'

const US_PER_DAY = 86_400_000_000
const US_PER_S = 1_000_000
const ZERO = 48
/** The index of the time of day in `2026-01-31T09:30:00.123456Z`. */
const HOURS_AT = 11
const MINUTES_AT = 14
const SECONDS_AT = 17
const MICROS_AT = 20
const MICROS_DIGITS = 6

/**
 * Writes timestamps with a text before and a text after.
 *
 * @returns the same bytes each time, changed by the next call; `us` as renderTimestamp takes it
 */
export function createTimestampBytes(before: string, behind: string): (us: number) => Uint8Array {
  const at = utf8(before).length
  let bytes: Uint8Array = new Uint8Array()
  let dayUs = Number.NaN

  function writeDigits(place: number, digits: number, value: number): void {
    let rest = value
    for (let index = place + digits - 1; index >= place; index--) {
      const tenth = (rest / 10) | 0
      bytes[at + index] = ZERO + rest - tenth * 10
      rest = tenth
    }
  }

  return (us) => {
    const begin = Math.floor(us / US_PER_DAY) * US_PER_DAY
    if (begin !== dayUs) {
      bytes = utf8(`${before}${renderTimestamp(begin)}${behind}`)
      dayUs = begin
    }
    const seconds = Math.floor((us - begin) / US_PER_S)
    const minutes = (seconds / 60) | 0
    writeDigits(HOURS_AT, 2, (minutes / 60) | 0)
    writeDigits(MINUTES_AT, 2, minutes % 60)
    writeDigits(SECONDS_AT, 2, seconds % 60)
    writeDigits(MICROS_AT, MICROS_DIGITS, us - begin - seconds * US_PER_S)
    return bytes
  }
}
