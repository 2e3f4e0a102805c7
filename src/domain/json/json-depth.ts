/** How deep a JSON text nests, told without parsing it. */

/** Limit: deeper values would overflow the stack where they are written out again. */
export const JSON_DEPTH_MAX = 512

const QUOTE = 34
const BACKSLASH = 92

/** Whether a JSON text nests deeper than `depthMax`; brackets inside strings do not count. */
export function exceedsDepth(text: string, depthMax: number): boolean {
  // Most texts have fewer brackets than levels are allowed.
  if (countOf(text, '{', depthMax) + countOf(text, '[', depthMax) <= depthMax) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === 123 || code === 91) {
      depth += 1
      if (depth > depthMax) return true
    } else if (code === 125 || code === 93) {
      depth -= 1
    }
  }
  return false
}

/** How often a character stands in a text; counts no further than one more than `countMax`. */
function countOf(text: string, character: string, countMax: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= countMax; count++) {
    at = text.indexOf(character, at + 1)
  }
  return count
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}
