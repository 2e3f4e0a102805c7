/**
 * Parses JSON bodies by media type, and retains the text for routes that need it. Throws ApiError and never sends a
 * response.
 */
import fp from 'fastify-plugin'
import { decodeJsonBody, parseJsonBody } from '../../domain/json/json-body-text.ts'
import type { App } from '../app-type.ts'

/**
 * Limit in bytes: a longer body stays a Buffer on routes with `largeBody: 'bytes'`. Parsing one of this length takes
 * some 50 ms at worst.
 */
export const PARSED_BYTES_MAX = 512 * 1024

/** Installs the JSON parser as the only one; other media types end as unsupported_media_type. */
export const jsonBody = fp(
  async (app: App) => {
    app.decorateRequest('bodyText', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
      try {
        const { keepsBodyText, keepsLongNumbers, largeBody } = request.routeOptions.config
        if (largeBody === 'bytes' && body.length > PARSED_BYTES_MAX) return done(null, body)
        const text = decodeJsonBody(body as Buffer)
        if (keepsBodyText) request.bodyText = text
        done(null, parseJsonBody(text, { isLossless: keepsLongNumbers }))
      } catch (error) {
        done(error as Error, undefined)
      }
    })
  },
  { name: 'json-body' },
)
