/** Decimal amounts of money: read from JSON numbers without rounding, converted to whole atoms. Pure. */
import type { Measured } from '../stats/exact-sum.ts'

/** Places of an atom: 10^-15 dollars. */
const ATOM_PLACES = 15
const PARTS = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/

/**
 * The shortest decimal that reads as the number, without an exponent.
 *
 * @param value - finite, >= 0
 */
export function renderDecimal(value: number): string {
  const { digits, places } = split(String(value))
  if (places <= 0) return trimLeft(digits + '0'.repeat(-places))
  const padded = digits.padStart(places + 1, '0')
  return `${trimLeft(padded.slice(0, -places))}.${padded.slice(-places)}`
}

/**
 * Whole atoms of a decimal of dollars, half an atom rounded up; a bigint where a double would round.
 *
 * @param text - as renderDecimal writes it
 */
export function decimalAtoms(text: string): Measured {
  const { digits, places } = split(text)
  const shift = ATOM_PLACES - places
  const atoms =
    shift >= 0
      ? BigInt(digits) * 10n ** BigInt(shift)
      : (BigInt(digits) * 2n + 10n ** BigInt(-shift)) / (2n * 10n ** BigInt(-shift))
  return atoms <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(atoms) : atoms
}

/** The digits of a decimal and the number of digits after the point, which may be negative. */
function split(text: string): { digits: string; places: number } {
  const match = PARTS.exec(text)
  if (!match) throw new TypeError('not a decimal >= 0')
  const [, whole = '', fraction = '', exponent = '0'] = match
  return { digits: whole + fraction, places: fraction.length - Number(exponent) }
}

function trimLeft(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '')
}
