/**
 * Redirects addresses of views that cannot be decoded, such as one with a lone percent sign: the router finds no
 * route for them.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { forbidSniffing } from '../../http/cross-origin.ts'
import { sendFrameworkError } from '../../http/error-handler.ts'

/**
 * Paths of views. A second slash or backslash at the start is excluded, because it would redirect to another server.
 */
const IN_PROJECT = /^\/[^/\\]+\/[^/]+\/(?:weave|r)\//

/**
 * Responds to requests that the router refuses: browsers are redirected to the address with the undecodable name
 * encoded.
 */
export function respondToUnrouted(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { method, url, id } = request
  // No hook runs for these requests.
  forbidSniffing(reply.header('x-request-id', id))
  const isNormalizable =
    error.code === 'FST_ERR_BAD_URL' && method === 'GET' && IN_PROJECT.test(url)
  if (isNormalizable) reply.redirect(normalize(url))
  else sendFrameworkError(error, request, reply)
}

function normalize(url: string): string {
  const [path = '', ...query] = url.split('?')
  const names = path.split('/').map((name) => (isEncoded(name) ? name : encodeURIComponent(name)))
  return [names.join('/'), ...query].join('?')
}

function isEncoded(name: string): boolean {
  try {
    decodeURIComponent(name)
    return true
  } catch {
    return false
  }
}
