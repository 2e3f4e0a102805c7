/** JSON written as bytes: no long text is made and turned into bytes afterwards. Pure. */

const BYTES_MIN = 2 ** 16
/** The longest text of a number: -1.2345678901234567e-300. */
const NUMBER_BYTES_MAX = 24
/** Whole numbers below it are written digit by digit. */
const DIGITS_END = 2 ** 31
const ZERO = 48

export interface JsonBytes {
  /** @param piece - UTF-8, as `utf8` makes it */
  write(piece: Uint8Array): void
  /** A number that is no NaN and not infinite, as JSON has it. */
  writeNumber(value: number): void
  /** All that was written, in a buffer of its own. Nothing is written afterwards. */
  finish(): Uint8Array<ArrayBuffer>
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function createJsonBytes(): JsonBytes {
  let bytes = new Uint8Array(BYTES_MIN)
  let end = 0

  function reserve(more: number): void {
    if (end + more <= bytes.length) return
    bytes = new Uint8Array(bytes.buffer.transfer(Math.max(bytes.length * 2, end + more)))
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

  function writeText(text: string): void {
    for (let index = 0; index < text.length; index++) bytes[end + index] = text.charCodeAt(index)
    end += text.length
  }

  return {
    write(piece) {
      reserve(piece.length)
      // Why a loop: pieces are short, and a call of `set` takes longer than to copy them.
      for (let index = 0; index < piece.length; index++) bytes[end + index] = piece[index] as number
      end += piece.length
    },
    writeNumber(value) {
      reserve(NUMBER_BYTES_MAX)
      if (value >= 0 && value < DIGITS_END && (value | 0) === value) writeDigits(value)
      else writeText(String(value))
    },
    finish: () => new Uint8Array(bytes.buffer.transfer(end)),
  }
}
