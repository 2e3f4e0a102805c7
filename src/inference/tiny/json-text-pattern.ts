/** Which regular expressions can stand inside of the quotes of a JSON text. Pure. */

const PIECES = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu
/** Escapes that match neither quote nor backslash nor control character. */
const SAFE_ESCAPE = /^\\[dw.*+?()[\]{}|^$/-]$/u
const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20

/** Whether nothing that the pattern matches needs an escape in JSON. It may say no too often. */
export function isQuotable(pattern: string): boolean {
  const pieces = pattern.match(PIECES) ?? []
  return pieces.every((piece) => {
    if (piece.startsWith('[') && piece.length > 1) return isSafeClass(piece.slice(1, -1))
    if (piece.startsWith('\\')) return SAFE_ESCAPE.test(piece)
    return piece !== '.' && isSafeRange(piece, piece)
  })
}

function isSafeClass(inside: string): boolean {
  if (inside.startsWith('^')) return false
  const items = inside.match(/\\[\s\S]|[^\\](?:-[^\\])?|-/gu) ?? []
  return items.every((item) => {
    if (item.startsWith('\\')) return SAFE_ESCAPE.test(item)
    const [first = '', , last = first] = item
    return isSafeRange(first, last)
  })
}

function isSafeRange(first: string, last: string): boolean {
  const [from = 0, to = 0] = [first.codePointAt(0), last.codePointAt(0)]
  const holds = (code: number): boolean => from <= code && code <= to
  return from >= FIRST_PRINTABLE && !holds(QUOTE) && !holds(BACKSLASH)
}
