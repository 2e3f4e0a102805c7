/** Content codings that a client accepts for the response. */
import type { FastifyRequest } from 'fastify'

const GZIP = /^\s*gzip\s*(?:;|$)/i
const REFUSED = /;\s*q=0(?:\.0*)?\s*$/i

export function takesGzip({ headers }: FastifyRequest): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',')
  return codings.some((coding) => GZIP.test(coding) && !REFUSED.test(coding))
}
