/** Finds where the parts of a JSON text end. Pure. */

const BACKSLASH = 92

/** Index of the quote that closes the string opened at `start`, or the text's length. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Whether an odd number of backslashes precedes an index. */
function isEscaped(text: string, index: number): boolean {
  let first = index
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (index - first) % 2 === 1
}

/** Index of the first character from `start` that is no white space. */
export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

/** Index after the digits, signs, points and exponents of the number at `start`. */
export function endOfNumber(text: string, start: number): number {
  let at = start
  while (isOfNumber(text.charCodeAt(at))) at += 1
  return at
}

function isOfNumber(code: number): boolean {
  return (code >= 45 && code <= 57) || code === 43 || code === 101 || code === 69
}
