/**
 * Ranges of numbers as patterns of digits. The grammar engine's own ranges accept numbers outside the bounds, so schemas
 * use these instead. Pure.
 */
import type { Pattern } from './pattern-grammar.ts'

/** Inclusive bounds, counted in units of the last decimal. */
interface NumberRange {
  readonly low: bigint
  readonly high: bigint
  /** Most digits behind the point; 0 for whole numbers. */
  readonly decimals: number
}

/** Limit: digits before the point, so that a number of 64 bits tells all values of a range apart. */
const INTEGER_DIGITS = 15
const NUMBER_DIGITS = 11
const DECIMALS_MAX = 4
const DIGITS = '0123456789'

/**
 * Reads the bounds of a schema for numbers; null when it has none.
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: integers with a bound have at most 15 digits; other numbers with a bound have at most 11 before the point, and
 * two decimals more than their bounds, four at the most.
 */
export function readRange(schema: Readonly<Record<string, unknown>>): NumberRange | null {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const given = [minimum, exclusiveMinimum, maximum, exclusiveMaximum].map((bound) =>
    typeof bound === 'number' ? bound : null,
  )
  const bounds = given.filter((bound) => bound !== null)
  if (bounds.length === 0) return null
  const isWhole = type === 'integer'
  const decimals = isWhole ? 0 : Math.min(Math.max(...bounds.map(countDecimals)) + 2, DECIMALS_MAX)
  const limit = 10 ** (isWhole ? INTEGER_DIGITS : NUMBER_DIGITS)
  /** The bound, or what is next to it inside the range. */
  const toUnits = (bound: number | null, inward: 1 | -1, isExclusive: boolean): bigint => {
    const clamped = Math.max(-limit, Math.min(limit, bound ?? -inward * limit))
    const nearest = BigInt(clamped.toFixed(decimals).replace('.', ''))
    const distance = (Number(`${nearest}e-${decimals}`) - clamped) * inward
    const isLimit = Math.abs(clamped) === limit && Math.sign(clamped) !== inward
    const isInside = !isLimit && (isExclusive ? distance > 0 : distance >= 0)
    return isInside ? nearest : nearest + BigInt(inward)
  }
  const [low = null, aboveLow = null, high = null, belowHigh = null] = given
  const lows = [toUnits(low, 1, false), toUnits(aboveLow, 1, true)]
  const highs = [toUnits(high, -1, false), toUnits(belowHigh, -1, true)]
  return {
    low: lows.reduce((a, b) => (a > b ? a : b)),
    high: highs.reduce((a, b) => (a < b ? a : b)),
    decimals,
  }
}

/**
 * Lists the patterns of all numbers in the range; none when no number is in it.
 *
 * @returns no two of them match the same text
 */
export function listPatterns({ low, high, decimals }: NumberRange): Pattern[] {
  const counts = Array.from({ length: decimals + 1 }, (_, count) => count)
  return counts.flatMap((count) => {
    const unit = 10n ** BigInt(decimals - count)
    const [from, to] = [-divideDown(-low, unit), divideDown(high, unit)]
    const positive = to < 0n ? [] : listDigits(from > 0n ? from : 0n, to, count)
    const negative = from >= 0n ? [] : listDigits(to < 0n ? -to : 1n, -from, count)
    return [...positive, ...negative.map((digits) => ['-', ...digits])]
  })
}

function divideDown(value: bigint, unit: bigint): bigint {
  return value / unit - (value % unit < 0n ? 1n : 0n)
}

/** The patterns of 0 <= from <= to, those of fewer digits first. */
function listDigits(from: bigint, to: bigint, decimals: number): Pattern[] {
  const patterns: Pattern[] = []
  // Small numbers are filled up with zeros to one digit before the point.
  const shortest = decimals + 1
  const longest = Math.max(shortest, `${to}`.length)
  for (let length = shortest; length <= longest; length++) {
    const least = length === shortest ? 0n : 10n ** BigInt(length - 1)
    const most = 10n ** BigInt(length) - 1n
    const low = from > least ? from : least
    const high = to < most ? to : most
    if (low > high) continue
    const pad = (value: bigint): string => `${value}`.padStart(length, '0')
    for (const digits of splitRange(pad(low), pad(high))) {
      const point = digits.length - decimals
      patterns.push(decimals === 0 ? digits : digits.toSpliced(point, 0, '.'))
    }
  }
  return patterns
}

/** Patterns of digits that together match exactly the texts from one to the other. */
function splitRange(low: string, high: string): string[][] {
  const [a = '', b = ''] = [low[0], high[0]]
  if (low.length === 0) return [[]]
  const rest = low.length - 1
  const any = Array.from({ length: rest }, () => DIGITS)
  const isWhole = /^0*$/.test(low.slice(1)) && /^9*$/.test(high.slice(1))
  if (isWhole) return [[DIGITS.slice(Number(a), Number(b) + 1), ...any]]
  const after = (digit: string, from: string, to: string): string[][] =>
    splitRange(from, to).map((digits) => [digit, ...digits])
  if (a === b) return after(a, low.slice(1), high.slice(1))
  const between = DIGITS.slice(Number(a) + 1, Number(b))
  const middle = between === '' ? [] : [[between, ...any]]
  return [
    ...after(a, low.slice(1), '9'.repeat(rest)),
    ...middle,
    ...after(b, '0'.repeat(rest), high.slice(1)),
  ]
}

/** Digits behind the point; those of `1e-7` are too many in any case. */
function countDecimals(value: number): number {
  if (Number.isInteger(value)) return 0
  return `${value}`.split('.')[1]?.length ?? DECIMALS_MAX
}
