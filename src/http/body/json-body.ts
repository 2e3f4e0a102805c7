/**
 * Reads JSON bodies: media type, UTF-8, depth limit, and the text itself where a route asks for it.
 * Never answers by itself: it throws ApiError.
 */
import { isUtf8 } from 'node:buffer'
import fp from 'fastify-plugin'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-depth.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'

const BYTE_ORDER_MARK = 0xfeff

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

/** Installs the JSON parser as the only one; other media types end as unsupported_media_type. */
export const jsonBody = fp(
  async (app: App) => {
    app.decorateRequest('bodyText', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
      try {
        const text = decodeJsonBody(body as Buffer)
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
