/**
 * Parses and prints JSON without losing a digit or the sign of a zero: a number that JavaScript would print
 * differently remains its source text (JSON.rawJSON) and is printed unchanged.
 */
import { readJson } from './json-reader.ts'

/**
 * Matches texts that can hold a number that a double rounds, which have a long run of digits. Why the characters
 * before: a number never follows a quote, as the ids in most bodies do, whose hex digits look like exponents.
 */
const LONG_NUMBER = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE][+-]?\d{2})/
/** A zero with a sign, which JSON.stringify would write without it. */
const NEGATIVE_ZERO = /(?:^|[[:,\s])-0(?![.0]*[1-9])/
/**
 * Matches texts that can hold a number that JavaScript prints differently: a fraction ending in zero, an exponent
 * or many digits.
 */
const ODD_NUMBER = /\.\d*0(?!\d)|\d[eE][+-]?\d|\d[\d.]{15}|-0/

const ZERO = 48
const WHOLE_NUMBER = /^-?\d+$/
/** The shared object of all negative zeros: each takes ten times the memory of a number. */
const MINUS_ZERO = JSON.rawJSON('-0')

/**
 * Parses JSON; numbers that would be rounded, and -0, come back as JSON.rawJSON objects.
 *
 * @throws SyntaxError
 */
export function parseLossless(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!LONG_NUMBER.test(text) && !NEGATIVE_ZERO.test(text)) return value
  return readJson(text, toExactNumber)
}

function toExactNumber(source: string): unknown {
  if (source === '-0') return MINUS_ZERO
  const value = Number(source)
  return losesDigits(value, source) ? JSON.rawJSON(source) : value
}

function losesDigits(value: number, source: string): boolean {
  if (Object.is(value, -0)) return true
  if (String(value) === source) return false
  // Doubles below 1e21 are written digit by digit: another text means rounding. Larger ones keep their source text.
  if (value !== 0 && WHOLE_NUMBER.test(source)) return true
  return !Number.isFinite(value) || canonicalDigits(String(value)) !== canonicalDigits(source)
}

/** The digits and exponent of a decimal, so that 1.50e3 and 1500 read the same. */
function canonicalDigits(source: string): string {
  const match = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(source)
  if (!match) return source
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  // Why: a pattern for zeros at the end takes quadratic time on zeros in the middle.
  let end = digits.length
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1
  const trimmed = digits.slice(0, end)
  if (trimmed === '') return '0'
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + (digits.length - trimmed.length)}`
}

/**
 * Parses JSON; a number that JavaScript would write in another way comes back as a JSON.rawJSON object, so
 * that 1.0 stays 1.0 for clients that distinguish it from 1.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return ODD_NUMBER.test(text) ? readJson(text, toNumberAsSent) : value
}

function toNumberAsSent(source: string): unknown {
  const value = Number(source)
  return String(value) === source ? value : JSON.rawJSON(source)
}

/** Returns a number as a double, also one that was parsed as its text; any other value unchanged. */
export function toDouble(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value
}

/** Matches digits with an exponent, which are a JSON number. */
const CANONICAL_NUMBER = /^-?\d+(?:e-?\d+)?$/

/** Returns a number in the one form of all texts that mean it, exactly; any other value unchanged. */
export function toCanonicalNumber(value: unknown): unknown {
  if (!JSON.isRawJSON(value)) return value
  const digits = canonicalDigits(value.rawJSON)
  const number = Number(value.rawJSON)
  if (canonicalDigits(String(number)) === digits) return number === 0 ? 0 : number
  return CANONICAL_NUMBER.test(digits) ? JSON.rawJSON(digits) : value
}

/** The JSON text of a value; undefined is `null`. */
export function renderJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}
