import fc from 'fast-check'

const SURROGATES_FROM = 0xd800
const SURROGATES = 0x800
const LAST = 0x10ffff

function place(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== text)
    throw new Error('not one character')
  return code < SURROGATES_FROM ? code : code - SURROGATES
}

/**
 * Any character of Unicode, as the `unit` of a text. The unit `binary` of the library is the same, but begins with a
 * table of a million characters: a second and 186 MB in each process.
 */
export const codePoint = fc
  .nat({ max: LAST - SURROGATES })
  .map((n) => String.fromCodePoint(n < SURROGATES_FROM ? n : n + SURROGATES), place)
