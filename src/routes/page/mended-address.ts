/** Addresses of views that cannot be decoded, such as one with a lone percent sign: no route is found for them. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** No second slash or backslash at the start, which would lead to another server. */
const IN_PROJECT = /^\/[^/\\]+\/[^/]+\/(?:weave|r)\//

/** Leads browsers to the address in which the text of such a name is encoded. @returns whether it was one */
export function leadToView(
  error: FastifyError,
  { method, url }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (error.code !== 'FST_ERR_BAD_URL' || method !== 'GET' || !IN_PROJECT.test(url)) return false
  const [path = '', ...query] = url.split('?')
  const mended = path.split('/').map((name) => (isEncoded(name) ? name : encodeURIComponent(name)))
  reply.redirect([mended.join('/'), ...query].join('?'))
  return true
}

function isEncoded(name: string): boolean {
  try {
    decodeURIComponent(name)
    return true
  } catch {
    return false
  }
}
