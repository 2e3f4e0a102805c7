/**
 * Parses JSON bodies by media type, in the mode of their route. Throws ApiError and never sends a response. Limits
 * bodies without content.
 */
import fp from 'fastify-plugin'
import { decodeJsonBody, parseJsonBody } from '../../domain/json/json-limits.ts'
import type { App } from '../app-type.ts'

/**
 * Limit: bytes of a body without content. The largest lists are 1,000 refs of 2,048 characters. Values are checked on
 * the event loop, which takes seconds for 32 MiB of them.
 */
export const QUERY_BODY_BYTES_MAX = 4 * 1024 * 1024

/** Installs the JSON parser as the only one; other media types end as unsupported_media_type. */
export const jsonBody = fp(
  async (app: App) => {
    app.decorateRequest('bodyText', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
      try {
        const { body: mode } = request.routeOptions.config
        if (mode === 'bytes') return done(null, body)
        const text = decodeJsonBody(body as Buffer)
        const isLossless = mode === 'exact'
        if (isLossless || mode === 'text') request.bodyText = text
        done(null, parseJsonBody(text, { isLossless }))
      } catch (error) {
        done(error as Error, undefined)
      }
    })
  },
  { name: 'json-body' },
)

/** Limits the bodies of a scope's routes that have the mode `query`. Must be called before the routes are added. */
export function limitQueryBodies(scope: App, bodyBytesMax: number): void {
  scope.addHook('onRoute', (route) => {
    if ((route.config?.body ?? 'query') !== 'query') return
    route.bodyLimit ??= Math.min(QUERY_BODY_BYTES_MAX, bodyBytesMax)
  })
}
