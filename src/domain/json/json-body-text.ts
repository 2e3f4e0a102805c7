/** Decodes and parses a JSON body; checks UTF-8 and nesting depth. */
import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../errors.ts'
import {
  EVENT_LOOP_LIMITS,
  exceedsDepth,
  JSON_DEPTH_MAX,
  type JsonLimits,
  requireParsable,
} from './json-limits.ts'
import { parseLossless } from './json-text.ts'

const BYTE_ORDER_MARK = 0xfeff

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
    const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
    return isLossless ? parseLossless(json) : JSON.parse(json)
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
 * The text of a JSON body.
 *
 * Spec: §4 (JSON, which is UTF-8). Choice: other bytes are refused; stored as U+FFFD they would be lost in silence.
 *
 * @throws ApiError invalid_json
 */
export function decodeJsonBody(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' })
}
