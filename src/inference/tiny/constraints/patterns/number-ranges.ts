/**
 * Writes numeric ranges as patterns of digits. The grammar engine's own ranges accept numbers outside the bounds, so
 * schemas use these instead. Pure.
 */
import type { Pattern } from './pattern-grammar.ts'

/** Inclusive bounds of a number; null: unbounded. */
interface NumberBounds {
  readonly low: number | null
  readonly high: number | null
  /** Most digits behind the point; 0 for whole numbers. */
  readonly decimals: number
}

const NOTHING: NumberBounds = { low: 1, high: 0, decimals: 0 }

type Schema = Readonly<Record<string, unknown>>

/** How far a range without a bound goes from its other bound, or from 0. */
const REACH = 10n ** 15n
const DECIMALS_MAX = 6
/** Limit: no range goes further from 0, for the size of its grammar. */
const BOUND_MAX = 1e21
/** By how much of itself a number of 64 bits may differ from what was written; twice that, and a little more. */
const ROUNDING = 2 ** -51
const DIGITS = '0123456789'

/**
 * The bounds of a schema for numbers; null when it has none.
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: numbers with bounds have at most two decimals more than the bounds; numbers without a bound on one
 * side end at a quadrillion.
 */
export function readBounds(schema: Schema): NumberBounds | null {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const given = [minimum, maximum, exclusiveMinimum, exclusiveMaximum]
  if (!given.some((value) => typeof value === 'number')) return null
  const places = given.map((value) => decimalsOf(typeof value === 'number' ? value : 0))
  const decimals = type === 'integer' ? 0 : Math.min(Math.max(...places) + 2, DECIMALS_MAX)
  const unit = 10 ** -decimals
  const lows = [asNumber(minimum), step(asNumber(exclusiveMinimum), unit, decimals)]
  const highs = [asNumber(maximum), step(asNumber(exclusiveMaximum), -unit, decimals)]
  const [low, high] = [pick(lows, Math.max), pick(highs, Math.min)]
  const isBeyond = (low ?? 0) > BOUND_MAX || (high ?? 0) < -BOUND_MAX
  if (isBeyond) return NOTHING
  return {
    low: low === null ? null : Math.max(low, -BOUND_MAX),
    high: high === null ? null : Math.min(high, BOUND_MAX),
    decimals,
  }
}

/**
 * The patterns of all numbers in the range that have no more decimals; none when no number has.
 *
 * @returns no two of them match the same text
 */
export function listPatterns({ low, high, decimals }: NumberBounds): Pattern[] {
  const counts = Array.from({ length: decimals + 1 }, (_, count) => count)
  return counts.flatMap((count) => listOfDecimals({ low, high, decimals: count }))
}

/** The patterns of those that have exactly so many decimals. */
function listOfDecimals({ low, high, decimals }: NumberBounds): Pattern[] {
  const from = low === null ? null : toUnits(low, decimals, 1)
  const to = high === null ? null : toUnits(high, decimals, -1)
  const reach = REACH * 10n ** BigInt(decimals)
  const start = from ?? (to !== null && to < 0n ? to : 0n) - reach
  const end = to ?? (from !== null && from > 0n ? from : 0n) + reach
  if (start > end) return []
  const positive = end < 0n ? [] : listDigits(start > 0n ? start : 0n, end, decimals)
  const negative = start >= 0n ? [] : listDigits(end < 0n ? -end : 1n, -start, decimals)
  return [...positive, ...negative.map((digits) => ['-', ...digits])]
}

/**
 * The bound, counted in units of the last decimal.
 *
 * @param inward - 1 for a lower bound, -1 for an upper one: where to go from a bound between two units, and from one
 * so large that its number may have been rounded
 */
function toUnits(bound: number, decimals: number, inward: 1 | -1): bigint {
  const units = bound * 10 ** decimals
  const rounding = Number.isSafeInteger(Math.round(units)) ? 0 : Math.abs(units) * ROUNDING
  const nearest = BigInt(Math.round(units + inward * rounding))
  const isInside = (Number(`${nearest}e-${decimals}`) - bound) * inward >= 0
  return isInside ? nearest : nearest + BigInt(inward)
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
  const behind = (digit: string, from: string, to: string): string[][] =>
    splitRange(from, to).map((digits) => [digit, ...digits])
  if (a === b) return behind(a, low.slice(1), high.slice(1))
  const between = DIGITS.slice(Number(a) + 1, Number(b))
  const middle = between === '' ? [] : [[between, ...any]]
  return [
    ...behind(a, low.slice(1), '9'.repeat(rest)),
    ...middle,
    ...behind(b, '0'.repeat(rest), high.slice(1)),
  ]
}

function decimalsOf(value: number): number {
  const [, fraction = ''] = `${value}`.split('.')
  return Number.isInteger(value) ? 0 : fraction.length
}

function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The next number within an exclusive bound. */
function step(bound: number | null, unit: number, decimals: number): number | null {
  if (bound === null) return null
  const moved = Number((bound + unit).toFixed(decimals))
  // Between large numbers there is no room for a unit.
  if (moved === bound) return bound + Math.sign(unit) * Math.abs(bound) * ROUNDING
  if (decimals > 0) return moved
  return unit > 0 ? Math.floor(bound) + 1 : Math.ceil(bound) - 1
}

function pick(values: readonly (number | null)[], choose: (...n: number[]) => number) {
  const numbers = values.filter((value) => value !== null)
  return numbers.length === 0 ? null : choose(...numbers)
}
