/**
 * Which regular expressions the grammar engine enforces, by themselves and inside the quotes of a JSON text.
 * Pure.
 */

/** An unclosed bracket takes the rest, or each of many would be followed to the end. */
const PIECES = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*(?:\]|\\?$)|[\s\S]/gu
const ESCAPED = /\\[\s\S]|[\s\S]/gu
/** Escapes that match neither quote nor backslash nor control character. */
const SAFE_ESCAPE = /^\\[dw.*+?()[\]{}|^$/-]$/u
/** A letter behind a backslash that ECMAScript does not define, as those of other dialects. */
const FOREIGN_ESCAPE = /^\\[A-CE-OQRTUVX-Zg-jl-moqyz]$/u
const CLASS = /^\\[dws]$/iu
const OPEN_CLASS = /^\\[DWS]$/u
/** A character by its number. */
const NUMBERED = /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))/giu
const FIRST_WIDE = 0x80
const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20

/** Returns the part of a pattern that cannot be enforced, or null if none is found. */
export function findPatternFault(pattern: string): string | null {
  if (toWholePattern(pattern) === null) return 'a pattern with ^ or $ inside of it'
  const foreign = (pattern.match(ESCAPED) ?? []).find((piece) => FOREIGN_ESCAPE.test(piece))
  if (foreign !== undefined) return `the escape ${foreign}`
  const brackets = (pattern.match(PIECES) ?? []).filter((piece) => piece.startsWith('['))
  // Of these the engine takes but one byte.
  if (brackets.some(hasWideCharacter)) return 'characters beyond ASCII in brackets'
  const others = brackets.filter((set) => set.startsWith('[^'))
  // Here it takes any character beyond ASCII.
  if (others.some((set) => listItems(set).some((item) => OPEN_CLASS.test(item)))) {
    return '\\D, \\W or \\S in brackets that begin with ^'
  }
  // And here other characters.
  return brackets.map(listItems).some(hasClassRange) ? 'a range from or to \\d, \\w or \\s' : null
}

function listItems(brackets: string): readonly string[] {
  return (
    brackets
      .replace(/^\[\^?/u, '')
      .slice(0, -1)
      .match(ESCAPED) ?? []
  )
}

/** Whether a minus joins a class of characters and another item. */
function hasClassRange(items: readonly string[]): boolean {
  return items.some((item, place) => {
    const [before, after] = [items[place - 1], items[place + 1]]
    if (item !== '-' || before === undefined || after === undefined) return false
    return CLASS.test(before) || CLASS.test(after)
  })
}

/**
 * The pattern as the engine has to be told it: its own points match line ends too, and it takes no bare one in brackets.
 *
 * Spec: §4.3 structured_outputs regex.
 */
export function toEnginePattern(pattern: string): string {
  return pattern.replaceAll(PIECES, (piece) => {
    if (piece === '.') return '[^\\n\\r]'
    return piece.startsWith('[') ? piece.replaceAll('\n', '\\n').replaceAll('\r', '\\r') : piece
  })
}

function hasWideCharacter(piece: string): boolean {
  if (Array.from(piece).some((character) => (character.codePointAt(0) ?? 0) >= FIRST_WIDE))
    return true
  const numbers = [...piece.matchAll(NUMBERED)].map(([, ...hex]) => hex.find((one) => one))
  return numbers.some((hex) => Number.parseInt(hex ?? '', 16) >= FIRST_WIDE)
}

/** Whether no text that the pattern matches needs an escape in JSON. May return false needlessly. */
export function isQuotable(pattern: string): boolean {
  const pieces = pattern.match(PIECES) ?? []
  return pieces.every((piece) => {
    if (piece.startsWith('[') && piece.length > 1) return isSafeClass(piece.slice(1, -1))
    if (piece.startsWith('\\')) return SAFE_ESCAPE.test(piece)
    return piece !== '.' && isSafeRange(piece, piece)
  })
}

/**
 * The pattern as one that matches whole texts, all of which match it anywhere: the engine joins the quotes
 * of the text to the first and the last of its alternatives. Null when an anchor stands inside it.
 */
export function toWholePattern(pattern: string): string | null {
  const alternatives: string[][] = [[]]
  let depth = 0
  for (const piece of pattern.match(PIECES) ?? []) {
    if (piece === '(') depth += 1
    if (piece === ')') depth -= 1
    if (piece === '|' && depth === 0) alternatives.push([])
    else alternatives.at(-1)?.push(piece)
  }
  const bare = alternatives.map((pieces) => {
    const from = pieces[0] === '^' ? 1 : 0
    return pieces.slice(from, pieces.at(-1) === '$' ? -1 : undefined)
  })
  const isAnchor = (piece: string): boolean => piece === '^' || piece === '$'
  if (bare.some((pieces) => pieces.some(isAnchor))) return null
  const texts = bare.map((pieces) => pieces.join(''))
  const filled = texts.filter((text) => text !== '')
  // Why: the engine takes no empty alternative.
  const isOptional = filled.length > 0 && filled.length < texts.length
  return isOptional ? `^(${filled.join('|')})?$` : `^(${texts.join('|')})$`
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
