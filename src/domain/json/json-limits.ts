/** Limits of a JSON text that are checked before it is parsed: nesting depth, and how much it holds. */
import { ApiError } from '../../errors.ts'
import { endOfString } from './json-strings.ts'

/** Limit: deeper values would overflow the stack where they are written out again. */
export const JSON_DEPTH_MAX = 512

/** How much a JSON text may hold, whatever its length. */
export interface JsonLimits {
  readonly containersMax: number
  readonly membersMax: number
  readonly valuesMax: number
}

/**
 * Limits of a text that is parsed on the event loop: each takes at most some 50 ms. A member with a name of its own costs
 * a microsecond, a number in a list a twentieth of that.
 */
export const EVENT_LOOP_LIMITS: JsonLimits = {
  containersMax: 131_072,
  membersMax: 50_000,
  valuesMax: 1_048_576,
}

/** What the limits count, in the words of errors. */
const NAMES = {
  containersMax: 'objects and lists',
  membersMax: 'members of objects',
  valuesMax: 'values',
} as const satisfies Record<keyof JsonLimits, string>

/**
 * Bytes of heap for each object and list, so that half of a heap holds as many as are allowed: each takes up to 220
 * bytes while it is parsed without losing digits.
 */
const CONTAINER_HEAP_BYTES = 512
const MIB = 1024 * 1024

const QUOTE = 34
const COMMA = 44
const COLON = 58

/** Whether a JSON text nests deeper than `depthMax`; brackets inside strings do not count. */
export function exceedsDepth(text: string, depthMax: number): boolean {
  // Most texts have fewer brackets than levels are allowed.
  if (countOf(text, '{', depthMax) + countOf(text, '[', depthMax) <= depthMax) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (isOpening(code)) {
      depth += 1
      if (depth > depthMax) return true
    } else if (code === 125 || code === 93) {
      depth -= 1
    }
  }
  return false
}

/** Limits of a text that is parsed in a thread with a heap of this size, which ends alone when it is too small. */
export function limitsOfHeap(heapMib: number): JsonLimits {
  return {
    containersMax: Math.floor((heapMib * MIB) / CONTAINER_HEAP_BYTES),
    membersMax: Number.POSITIVE_INFINITY,
    valuesMax: Number.POSITIVE_INFINITY,
  }
}

/** The first limit that a JSON text exceeds, or null; what is inside strings does not count. */
export function findExcess(text: string, limits: JsonLimits): keyof JsonLimits | null {
  const { containersMax, membersMax, valuesMax } = limits
  // With its comma, a member takes 5 characters; a list, an object or another value takes 2.
  const charsMin = Math.min(2 * containersMax, 5 * membersMax, 2 * valuesMax)
  if (text.length <= charsMin) return null
  let [containers, members, commas] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON && ++members > membersMax) return 'membersMax'
    else if (isOpening(code) && ++containers > containersMax) return 'containersMax'
    else if (code === COMMA && ++commas + containers > valuesMax) return 'valuesMax'
  }
  return null
}

/**
 * Refuses a text that would take too much time or memory as values.
 *
 * @throws ApiError request_too_large
 */
export function requireParsable(text: string, limits: JsonLimits): void {
  const excess = findExcess(text, limits)
  if (excess === null) return
  throw new ApiError('request_too_large', {
    message: `The body holds more than ${limits[excess]} ${NAMES[excess]}.`,
  })
}

function isOpening(code: number): boolean {
  return code === 123 || code === 91
}

/** Counts a character in a text; stops at one more than `countMax`. */
function countOf(text: string, character: string, countMax: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= countMax; count++) {
    at = text.indexOf(character, at + 1)
  }
  return count
}
