/**
 * Values of the query language (JSON values, instants, and `undefined` for missing ones): comparison, conversion and
 * sorting. Pure; numbers are doubles.
 */
import { isDeepStrictEqual } from 'node:util'
import { parseTimestampUs, renderTimestamp } from '../../schemas/timestamp.ts'

const US_PER_S = 1_000_000

/** An instant; equal and in order with date-time strings and with numbers of seconds since the epoch. */
interface TimeValue {
  readonly time_us: number
}

const TARGETS = ['double', 'string', 'int', 'bool', 'exists'] as const
export type ConvertTarget = (typeof TARGETS)[number]

export function isConvertTarget(name: unknown): name is ConvertTarget {
  return TARGETS.some((target) => target === name)
}

/** An instant as a value. */
export function timeValue(time_us: number | null): TimeValue | null {
  return time_us === null ? null : Object.assign(Object.create(TIME), { time_us })
}

/** Marks instants: no JSON value has this prototype. */
const TIME = Object.freeze(Object.create(null))

function isTime(value: unknown): value is TimeValue {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === TIME
}

/** Marks a field that has several values, as one for each feedback about a call. */
const SEVERAL = Object.freeze(Object.create(null))

/** The values of a field that may have many; null and what is missing count for nothing. */
export function severalValues(values: readonly unknown[]): unknown {
  const known = values.filter((value) => !isMissing(value))
  if (known.length < 2) return known[0]
  return Object.assign(Object.create(SEVERAL), { values: known })
}

/** Each of several values; the value itself where it is one. */
export function eachOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [value]
  return Object.getPrototypeOf(value) === SEVERAL
    ? (value as { values: unknown[] }).values
    : [value]
}

/** Whether a value is missing: null in SQL. */
export function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

/** Whether two values are the same; null, as in SQL, where one is missing or is no time beside an instant. */
export function equals(left: unknown, right: unknown): boolean | null {
  if (isMissing(left) || isMissing(right)) return null
  if (isTime(left) || isTime(right)) {
    const sign = order(left, right)
    return sign === null ? null : sign === 0
  }
  if (typeof left === 'object' && typeof right === 'object') return isDeepStrictEqual(left, right)
  return left === right
}

/** Negative, 0 or positive; null for values that have no order, as a number and a string. */
export function order(left: unknown, right: unknown): number | null {
  if (isTime(left) || isTime(right)) return orderTimes(left, right)
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') {
    return left < right ? -1 : Number(left > right)
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  return null
}

function orderTimes(left: unknown, right: unknown): number | null {
  const [a, b] = [toTimeUs(left), toTimeUs(right)]
  return a === null || b === null ? null : a - b
}

/** Microseconds of an instant, of seconds since the epoch, or of a date-time; else null. */
export function toTimeUs(value: unknown): number | null {
  if (isTime(value)) return value.time_us
  if (typeof value === 'number') return value * US_PER_S
  return typeof value === 'string' ? parseTimestampUs(value) : null
}

/** Converts; null when the value has no such form. `exists` is whether it is there and not null. */
export function convert(value: unknown, to: ConvertTarget): unknown {
  switch (to) {
    case 'exists':
      return !isMissing(value)
    case 'string':
      return toText(value)
    case 'bool':
      return toBoolean(value)
    case 'double':
      return toNumber(value)
    case 'int': {
      const number = toNumber(value)
      return number === null ? null : Math.trunc(number)
    }
    default:
      return to satisfies never
  }
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  if (isTime(value)) return value.time_us / US_PER_S
  if (typeof value !== 'string' || value.trim() === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

function toBoolean(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value !== 0
  if (value === 'true' || value === '1') return true
  return value === 'false' || value === '0' ? false : null
}

/** Strings unchanged, instants in the API format, other values as JSON; null for null and undefined. */
export function toText(value: unknown): string | null {
  if (isMissing(value)) return null
  if (typeof value === 'string') return value
  return isTime(value) ? renderTimestamp(value.time_us) : JSON.stringify(value)
}

/** Returns the number of items of a list, or of members of an object; null for other values. */
export function sizeOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || isTime(value)) return null
  return JSON.isRawJSON(value) ? null : Object.keys(value).length
}

/**
 * Converts a value for a comparison with a text: numbers and booleans to their JSON text, other values unchanged.
 */
export function textForTextComparison(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

/** The value at the rest of a path; undefined when there is none. Lists are entered by index. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    if (Array.isArray(inner) && key === 'length') return undefined
    inner = (inner as Record<string, unknown>)[key]
  }
  return inner
}

/**
 * Compares two values in a total order for sorting: by kind (numbers, strings, booleans, other values as JSON, null
 * or missing), then by value. The direction turns the values of a kind, not the kinds.
 */
export function orderForSort(left: unknown, right: unknown, direction: 'asc' | 'desc'): number {
  const [leftRank, rightRank] = [sortRank(left), sortRank(right)]
  if (leftRank !== rightRank) return leftRank - rightRank
  const sign = orderAlike(left, right)
  return direction === 'asc' ? sign : -sign
}

const MISSING = 9

function sortRank(value: unknown): number {
  if (isMissing(value)) return MISSING
  if (typeof value === 'number' || isTime(value)) return 0
  if (typeof value === 'string') return 1
  return typeof value === 'boolean' ? 2 : 3
}

function orderAlike(left: unknown, right: unknown): number {
  return order(left, right) ?? order(toText(left), toText(right)) ?? 0
}
