/** Numbers as texts of a bounded length. Pure. */

/** Larger numbers have an exponent in place of up to 300 digits. */
export const DIGITS_SHOWN_MAX = 1e15

/** @param format - of numbers whose digits are shown */
export function formatDigits(number: number, format: Intl.NumberFormat): string {
  return Math.abs(number) < DIGITS_SHOWN_MAX ? format.format(number) : number.toExponential(2)
}
