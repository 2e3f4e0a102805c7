/**
 * Responds 501 with the name of the missing feature when a client library calls an endpoint of its vendor that Weft
 * does not have. Bodies are not read. Additions to the spec.
 */
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { MISSING_FEATURES, type MissingFeature } from './missing-endpoints.ts'

interface MissingRoutesOptions {
  /** Default: those of the trace API. */
  readonly features?: readonly MissingFeature[]
}

/** Must be registered after all other routes, which take precedence. */
export async function missingRoutes(
  app: App,
  { features = MISSING_FEATURES }: MissingRoutesOptions,
): Promise<void> {
  for (const missing of features) {
    const refuse = createRefusal(missing)
    for (const endpoint of missing.endpoints) {
      const [method = '', address = ''] = endpoint.split(' ')
      const url = address.replace(/\{(\w+)\}/g, ':$1')
      if (app.hasRoute({ method, url: app.prefix + url })) continue
      app.route({ method, url, schema: { hide: true }, onRequest: refuse, handler: refuse })
    }
  }
}

/** Logs the first request only: a client may send one with every call. */
function createRefusal({ feature, reason }: MissingFeature) {
  let isLogged = false
  return async ({ log }: FastifyRequest): Promise<never> => {
    if (!isLogged) log.warn({ feature }, 'a client asked for what this server does not have')
    isLogged = true
    throw new ApiError('not_implemented', {
      message: `Weft does not have ${feature}. ${reason}`,
      // The OpenAI SDKs retry after other responses of 500 and above.
      headers: { 'x-should-retry': 'false' },
    })
  }
}
