/**
 * Reads JSON bodies: media type, depth limit, and the text itself where a route asks for it.
 * Never answers by itself: it throws ApiError.
 */
import fp from 'fastify-plugin'
import { parseLossless } from '../domain/json-text.ts'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

/** Limit: deeper values would overflow the stack where they are written out again. */
export const JSON_DEPTH_MAX = 512

const QUOTE = 34
const BACKSLASH = 92
const BYTE_ORDER_MARK = 0xfeff

/** Whether a JSON text nests deeper than `depthMax`; brackets inside strings do not count. */
export function exceedsDepth(text: string, depthMax: number): boolean {
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

/**
 * The value of a JSON body. An empty body reads as undefined.
 *
 * @param isLossless - numbers that a double would round are kept as JSON.rawJSON objects
 * @throws ApiError invalid_json
 */
export function parseJsonBody(text: string, isLossless = false): unknown {
  if (text === '') return undefined
  if (exceedsDepth(text, JSON_DEPTH_MAX)) {
    throw new ApiError('invalid_json', {
      message: `The body nests deeper than ${JSON_DEPTH_MAX} levels.`,
    })
  }
  try {
    const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
    return isLossless ? parseLossless(json) : JSON.parse(json)
  } catch (cause) {
    throw new ApiError('invalid_json', { cause })
  }
}

/** Installs the JSON parser as the only one; other media types end as unsupported_media_type. */
export const jsonBody = fp(
  async (app: App) => {
    app.decorateRequest('bodyText', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      try {
        const text = String(body)
        const { keepsBodyText, keepsLongNumbers } = request.routeOptions.config
        if (keepsBodyText) request.bodyText = text
        done(null, parseJsonBody(text, keepsLongNumbers))
      } catch (error) {
        done(error as Error, undefined)
      }
    })
  },
  { name: 'json-body' },
)
