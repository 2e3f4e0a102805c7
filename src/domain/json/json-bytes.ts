/** Writes JSON as bytes in chunks, without building a long string first; timestamps, too. Pure. */
import { renderTimestamp } from '../../schemas/timestamp.ts'

/** Bytes of a full chunk. */
const PIECE_BYTES = 2 ** 18
/** The longest text of a number: -1.2345678901234567e-300. */
const NUMBER_BYTES_MAX = 24
/** Upper bound of the whole numbers that are written digit by digit. */
const DIGITS_END = 2 ** 31
/** Numbers below DECIMALS_END with at most nine decimals are written digit by digit, too. */
const DECIMALS = 9
const DECIMAL_UNITS = 10 ** DECIMALS
/** Fifteen digits identify a double, so a decimal with no more digits is the shortest text of its number. */
const DECIMALS_END = 10 ** (15 - DECIMALS)
/** Lower bound of the numbers that JSON writes without an exponent. */
const DECIMALS_MIN = 1e-6
const ZERO = 48
const POINT = 46
const US_PER_DAY = 86_400_000_000
const US_PER_S = 1_000_000
/** The index of the time of day in `2026-01-31T09:30:00.123456Z`. */
const HOURS_AT = 11
const MINUTES_AT = 14
const SECONDS_AT = 17
const MICROS_AT = 20
const MICROS_DIGITS = 6

export interface JsonBytes {
  /** @param text - UTF-8, as `utf8` makes it */
  write(text: Uint8Array): void
  /** A number that is no NaN and not infinite, as JSON has it. */
  writeNumber(value: number): void
  /** All that was written, in order; each piece has a buffer of its own. */
  finish(): Uint8Array<ArrayBuffer>[]
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function createJsonBytes(): JsonBytes {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  const bytes = new Uint8Array(PIECE_BYTES)
  let end = 0

  function cut(): void {
    if (end > 0) pieces.push(copyOf(bytes.subarray(0, end)))
    end = 0
  }

  function reserve(more: number): void {
    if (end + more > PIECE_BYTES) cut()
  }

  function writeDigits(value: number): void {
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits += 1
    end += digits
    let rest = value
    for (let at = end - 1; digits > 0; at--, digits--) {
      const tenth = (rest / 10) | 0
      bytes[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
  }

  /** @returns false, and nothing written, where the number has more decimals */
  function writeDecimal(value: number): boolean {
    const units = Math.round(value * DECIMAL_UNITS)
    if (units / DECIMAL_UNITS !== value) return false
    const whole = Math.floor(value)
    writeDigits(whole)
    bytes[end] = POINT
    let rest = units - whole * DECIMAL_UNITS
    let digits = DECIMALS
    for (; rest % 10 === 0; rest = (rest / 10) | 0) digits -= 1
    end += 1 + digits
    for (let at = end - 1; digits > 0; at--, digits--) {
      const tenth = (rest / 10) | 0
      bytes[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    return true
  }

  function writeText(text: string): void {
    for (let index = 0; index < text.length; index++) bytes[end + index] = text.charCodeAt(index)
    end += text.length
  }

  return {
    write(text) {
      reserve(text.length)
      if (text.length > PIECE_BYTES) {
        pieces.push(copyOf(text))
        return
      }
      // Why a loop: texts are short, and a call of `set` takes longer than to copy them.
      for (let index = 0; index < text.length; index++) bytes[end + index] = text[index] as number
      end += text.length
    },
    writeNumber(value) {
      reserve(NUMBER_BYTES_MAX)
      if (value >= 0 && value < DIGITS_END && (value | 0) === value) return writeDigits(value)
      if (value >= DECIMALS_MIN && value < DECIMALS_END && writeDecimal(value)) return
      writeText(String(value))
    },
    finish() {
      cut()
      return pieces
    },
  }
}

/**
 * Copies bytes into a resizable buffer. Why resizable: it has memory pages of its own, which return to the system
 * when it is freed. A fixed buffer comes from the heap of the thread that makes it, which fragments when other
 * threads free their buffers late.
 */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = bytes
  const copy = new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }))
  copy.set(bytes)
  return copy
}

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
