/** JSON whose numbers keep every digit: those that a double would round remain text. */

interface RawNumber {
  readonly rawJSON: string
}

/** Newer than TypeScript's types. Where it is missing, numbers are rounded. */
interface ExactJson {
  rawJSON?(text: string): RawNumber
  isRawJSON?(value: unknown): value is RawNumber
  parse(
    text: string,
    revive: (name: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown
}

const exact = JSON as unknown as ExactJson

/** Number of digits that every double preserves. */
const DIGITS_KEPT = 15

/** Texts without a match have no number that a double would round, and are parsed many times faster. Digits after a quote, as in ids, do not match. */
const LONG_NUMBER = /(?:^|[[:,\s])-?\d[\d.]{15}/

export function parseExact<T>(text: string): T {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as T
  return exact.parse(text, (_name, value, context) => {
    const source = context?.source
    if (typeof value !== 'number' || source === undefined || !isRounded(value, source)) return value
    return exact.rawJSON?.(source) ?? value
  }) as T
}

function isRounded(value: number, source: string): boolean {
  const digits = source
    .replace(/e.*$/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '')
  return digits.length > DIGITS_KEPT && String(value) !== source
}

/** A value as a number, rounded to a double; NaN for anything else. */
export function roundedNumber(value: unknown): number {
  const plain = isExactNumber(value) ? value.rawJSON : value
  return typeof plain === 'object' ? Number.NaN : Number(plain)
}

/** Any JSON value as text: strings unchanged, all else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return isExactNumber(value) ? value.rawJSON : (JSON.stringify(value) ?? '')
}

export function isExactNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON?.(value) ?? false
}

/** Larger numbers are shown with an exponent in place of up to 300 digits. */
export const DIGITS_SHOWN_MAX = 1e15

/** @param format - of numbers whose digits are shown */
export function formatDigits(number: number, format: Intl.NumberFormat): string {
  return Math.abs(number) < DIGITS_SHOWN_MAX ? format.format(number) : number.toExponential(2)
}
