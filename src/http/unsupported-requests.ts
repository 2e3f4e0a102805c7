/**
 * Sends the common error body for requests to which Node or the router would respond by themselves, or not at all. An
 * unknown address is refused before a body is read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'
import { endWithError } from './error-handler.ts'
import type { RequestObserver } from './log/request-observer.ts'
import { createNearestRoutes } from './nearest-routes.ts'

/** HTTP methods that routes of this server use. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

/** Must be installed before all routes, on a server with Node's own check of the Host header turned off. */
export const unsupportedRequests = fp(
  async (app: App, { watch }: { readonly watch: RequestObserver }) => {
    const nearest = createNearestRoutes()
    app.addHook('onRoute', ({ method, url, schema }) => {
      const isShown = schema !== undefined && (schema.hide !== true || url.startsWith('/traces/'))
      if (isShown && method !== 'HEAD') nearest.add(String(method), url)
    })
    app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      app.routing(request, response)
    })
    // A CONNECT request names no address of this server; no other response is possible.
    app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      const error = new ApiError('method_not_allowed', { headers: allow(METHODS) })
      endWithError(socket, error, { watch, log: app.log })
    })
    app.addHook('onRequest', (request, _reply, done) => {
      const { headers, httpVersion } = request.raw
      if (headers.host === undefined && httpVersion === '1.1') {
        const message = 'The Host header is missing.'
        throw new ApiError('invalid_http', { message, headers: { connection: 'close' } })
      }
      if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
        throw new ApiError('expectation_failed')
      }
      if (request.is404) throw refuseAddress(request.method, request.url.split('?', 1)[0] ?? '/')
      done()
    })
    function refuseAddress(method: string, path: string): ApiError {
      // `*` means the server as a whole; the router would take it for a wildcard.
      const allowed = METHODS.filter(
        (known) => path !== '*' && app.findRoute({ method: known, url: path }) !== null,
      )
      if (allowed.length === 0) {
        const near = nearest.find(path)
        const hint = near.length === 0 ? '' : ` Near are ${near.join(', ')}.`
        const message = `There is nothing at this address.${hint} All routes are at /docs.`
        return new ApiError('unknown_url', { message })
      }
      const message = `This address takes ${allowed.join(', ')}, not ${method}.`
      return new ApiError('method_not_allowed', { message, headers: allow(allowed) })
    }
  },
  { name: 'odd-requests' },
)

function allow(methods: readonly string[]) {
  return { allow: methods.join(', ') }
}
