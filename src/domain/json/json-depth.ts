/** Measures the nesting depth and the number of containers of a JSON text without parsing it. */
import { endOfString } from './json-strings.ts'

/** Limit: deeper values would overflow the stack where they are written out again. */
export const JSON_DEPTH_MAX = 512

/**
 * Limit: objects and lists of one text. Each takes up to 220 bytes of heap while it is parsed without losing digits,
 * and a heap that is too small for JSON.parse ends the whole process, threads included: these take half of 2 GB at
 * most.
 */
export const JSON_CONTAINERS_MAX = 4_194_304
/** Bytes of heap for each object and list, so that half of a heap holds as many as are allowed. */
const CONTAINER_HEAP_BYTES = 512
const MIB = 1024 * 1024

const QUOTE = 34

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

/** How many objects and lists a text may hold that is parsed in a heap of this size. */
export function containersMaxOf(heapMib: number): number {
  return Math.floor((heapMib * MIB) / CONTAINER_HEAP_BYTES)
}

/** Whether a JSON text may hold more objects and lists than `countMax`; brackets inside strings count, too. */
export function exceedsContainers(text: string, countMax: number): boolean {
  // Each takes two characters.
  if (text.length <= 2 * countMax) return false
  const objects = countOf(text, '{', countMax)
  return objects > countMax || objects + countOf(text, '[', countMax) > countMax
}

/** Counts a character in a text; stops at one more than `countMax`. */
function countOf(text: string, character: string, countMax: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= countMax; count++) {
    at = text.indexOf(character, at + 1)
  }
  return count
}
