/** JSON whose numbers keep every digit: those that a double would round stay text. */

interface RawNumber {
  readonly rawJSON: string
}

/** Newer than the types of the language; without it numbers are rounded as everywhere else. */
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

/** A text without it has no number that a double rounds, and is parsed many times faster. It stands behind no quote, as ids do. */
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

/** A value as a number, rounded where it has to be; NaN for what is none. */
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
