/**
 * Protects users of browsers from pages of other origins. A browser adds the Basic credentials that it remembers to
 * every request to this server, whichever page sends it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

/** Methods that change nothing here. */
export const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']
/**
 * Media types that a page may send to another origin without a CORS preflight. The empty string stands for no
 * `Content-Type`. For any other type the browser sends a preflight, which this server never approves.
 */
const FORM_TYPES: readonly string[] = [
  '',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'text/plain',
]

/** Forbids browsers to guess the media type of a response. Must be installed before all that may refuse a request. */
export const noSniffing = fp(
  async (app: App) => {
    app.addHook('onRequest', (_request, reply, done) => {
      forbidSniffing(reply)
      done()
    })
  },
  { name: 'no-sniffing' },
)

/** Adds the header to a response that passes no hook. */
export function forbidSniffing(reply: FastifyReply): void {
  reply.header('x-content-type-options', 'nosniff')
}

/**
 * Refuses forms from pages of another origin, on all routes. Clients that are no browsers send neither
 * `Sec-Fetch-Site` nor `Origin` and are never refused.
 *
 * @throws ApiError cross_origin_form
 */
export const sameOriginForms = fp(
  async (app: App) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const isForm = !SAFE_METHODS.includes(request.method) && FORM_TYPES.includes(typeOf(request))
      if (isForm && isCrossOrigin(request)) throw new ApiError('cross_origin_form')
      done()
    })
  },
  { name: 'same-origin-forms' },
)

/**
 * Whether a browser states that a page of this server sends the request, which none can state for a page of another
 * origin. Without `Sec-Fetch-Site`, `Origin` must be the public one.
 */
export function isProvenSameOrigin({ headers }: FastifyRequest, publicOrigin: string): boolean {
  const site = headers['sec-fetch-site']
  return site === undefined ? headers.origin === publicOrigin : site === 'same-origin'
}

function typeOf({ headers }: FastifyRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  return type.trim().toLowerCase()
}

/**
 * Whether a page of another origin sends the request: compares the origin of the page with this server. `Sec-Fetch-Site` is correct behind any proxy, but browsers send
 * it only to https and to localhost. Without it `Origin` must name the host of the request. A proxy that rewrites the
 * host passes the public one in `X-Forwarded-Host`, which no page can set without a preflight.
 */
export function isCrossOrigin({ headers }: FastifyRequest): boolean {
  const { origin, host, 'x-forwarded-host': forwarded = '' } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  // The origin of a sandboxed page is `null`, which is no URL.
  const page = URL.parse(origin)
  if (page === null) return true
  const hosts = [host ?? '', ...String(forwarded).split(',')].map((name) => name.trim())
  return !hosts.some((name) => page.host === URL.parse(`${page.protocol}//${name}`)?.host)
}
