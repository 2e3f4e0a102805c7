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

export function parseExact<T>(text: string): T {
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

/** Any JSON value as text: strings unchanged, all else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return isExactNumber(value) ? value.rawJSON : (JSON.stringify(value) ?? '')
}

export function isExactNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON?.(value) ?? false
}
