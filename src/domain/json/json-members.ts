/**
 * The source texts of the members of a JSON object. Pure. What a client sent is stored byte for byte:
 * rendering a parsed value again would round long numbers and cost as much as the parse.
 */
import { endOfString, isSpace, skipSpace } from './json-scan.ts'

const QUOTE = 34
const COMMA = 44

/** The position of a member in the text of its object: indexes; ends are exclusive. */
export interface MemberPosition {
  readonly name: string
  readonly nameStart: number
  readonly valueStart: number
  readonly valueEnd: number
}

/**
 * Finds the outermost members of an object in one pass, in their order; a name may come twice.
 *
 * @param text - JSON that has been parsed before; a byte order mark may come first
 */
export function findMembers(text: string): MemberPosition[] {
  const members: MemberPosition[] = []
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameStart = at
    const nameEnd = endOfString(text, at) + 1
    const valueStart = skipSpace(text, text.indexOf(':', nameEnd) + 1)
    const valueEnd = skipValue(text, valueStart)
    const name: string = JSON.parse(text.slice(nameStart, nameEnd))
    members.push({ name, nameStart, valueStart, valueEnd })
    at = skipSpace(text, valueEnd)
    // After the comma comes the next name; after the closing brace nothing of interest.
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/**
 * Yields the source texts of an array's items, in their order, so that a caller can pause between them.
 *
 * @param text - a JSON array that has been parsed before
 */
export function* eachItem(text: string): Generator<string, void> {
  let at = skipSpace(text, text.indexOf('[') + 1)
  while (at < text.length && !isClosing(text.charCodeAt(at))) {
    const end = skipValue(text, at)
    yield text.slice(at, end)
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
}

/** Returns the source texts of an array's items, as eachItem. */
export function splitItems(text: string): string[] {
  return [...eachItem(text)]
}

/**
 * Splits an object into its outermost members, in one pass. The last one wins when a name comes twice, as
 * in JSON.parse.
 *
 * @param text - JSON that has been parsed before; a byte order mark may come first
 * @returns the values' texts by name, without the white space around them
 */
export function splitMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  for (const { name, valueStart, valueEnd } of findMembers(text)) {
    members.set(name, text.slice(valueStart, valueEnd))
  }
  return members
}

/** Returns the index after the value that begins at `from`. */
function skipValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at) + 1
      if (depth === 0) return at
      continue
    }
    if (depth === 0 && (code === COMMA || isClosing(code) || isSpace(code))) return at
    at += 1
    if (isOpening(code)) depth += 1
    else if (isClosing(code)) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return at
}

function isOpening(code: number): boolean {
  return code === 123 || code === 91
}

function isClosing(code: number): boolean {
  return code === 125 || code === 93
}
