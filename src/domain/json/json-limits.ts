/** Parses JSON texts from outside within limits: UTF-8, nesting depth, and number of parts. */

import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../errors.ts'
import { endOfString } from './json-scan.ts'
import { parseLossless } from './json-text.ts'

/** Limit: deeper values would overflow the stack where they are written out again. */
export const JSON_DEPTH_MAX = 512

/** The number of parts that a JSON text may have, whatever its length. */
export interface JsonLimits {
  /** Objects, lists, and members of objects. */
  readonly partsMax: number
  /** Values, wherever they are. */
  readonly valuesMax: number
}

/**
 * Limits of a text that is parsed on the event loop, which takes some 60 ms at worst: a microsecond for a member with a
 * name of its own, a twentieth of that for a number in a list.
 */
export const EVENT_LOOP_LIMITS: JsonLimits = { partsMax: 65_536, valuesMax: 1_048_576 }

/**
 * Bytes of heap for each object, list or member. Measured: up to 300 where digits are kept, else up to 100. A heap that is
 * too small for JSON.parse ends the whole process, also when it is that of a thread.
 */
const PART_HEAP_BYTES = { lossless: 384, rounded: 192 } as const
const MIB = 1024 * 1024

const BYTE_ORDER_MARK = 0xfeff
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

/** Limits of a text that is parsed in a heap of this size. @param numbers - whether their digits are kept */
export function limitsOfHeap(heapMib: number, numbers: keyof typeof PART_HEAP_BYTES): JsonLimits {
  const partsMax = Math.floor((heapMib * MIB) / PART_HEAP_BYTES[numbers])
  return { partsMax, valuesMax: Number.POSITIVE_INFINITY }
}

/**
 * Refuses a text that would take too much time or memory as values. What is inside strings does not count.
 *
 * @throws ApiError request_too_large
 */
export function requireParsable(text: string, { partsMax, valuesMax }: JsonLimits): void {
  // Each takes two characters at least.
  if (text.length <= 2 * Math.min(partsMax, valuesMax)) return
  let [containers, members, commas] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) members += 1
    else if (isOpening(code)) containers += 1
    else if (code === COMMA) commas += 1
    else continue
    if (containers + members > partsMax) {
      throw tooLarge(`${partsMax} objects, lists and members`)
    }
    if (containers + commas > valuesMax) throw tooLarge(`${valuesMax} values`)
  }
}

function tooLarge(limit: string): ApiError {
  return new ApiError('request_too_large', { message: `The body holds more than ${limit}.` })
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

interface JsonBodyOptions {
  /** Whether numbers that a double would round become JSON.rawJSON objects. */
  readonly isLossless?: boolean
  /** Default: those of the event loop. */
  readonly limits?: JsonLimits
}

/**
 * The value of a JSON body. An empty body reads as undefined.
 *
 * @throws ApiError invalid_json, request_too_large
 */
export function parseJsonBody(
  text: string,
  { isLossless = false, limits = EVENT_LOOP_LIMITS }: JsonBodyOptions = {},
): unknown {
  if (text === '') return undefined
  if (exceedsDepth(text, JSON_DEPTH_MAX)) {
    throw new ApiError('invalid_json', {
      message: `The body nests deeper than ${JSON_DEPTH_MAX} levels.`,
    })
  }
  requireParsable(text, limits)
  try {
    return isLossless ? parseLossless(text) : JSON.parse(text)
  } catch (cause) {
    throw new ApiError('invalid_json', { message: describePosition(cause), cause })
  }
}

/**
 * Returns the position from the parser's error, where it has one; the rest of the message would repeat a part of
 * the body.
 */
function describePosition(error: unknown): string {
  const [place] = / \(line \d+ column \d+\)$/.exec((error as Error).message) ?? ['']
  return `The body is not valid JSON${place}.`
}

/**
 * The text of a JSON body, without a byte order mark: some clients send one, but JSON allows none.
 *
 * Spec: §4 (JSON, which is UTF-8). Choice: other bytes are refused; stored as U+FFFD they would be lost in silence.
 *
 * @throws ApiError invalid_json
 */
export function decodeJsonBody(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8')
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  }
  throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' })
}
