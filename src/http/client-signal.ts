/** Tells when the client of a request has left. Never answers and never ends anything by itself. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors.ts'

/**
 * A signal that aborts when the connection closes before the answer is out, in every phase and for
 * answers of every kind. Its reason is client_closed_request.
 *
 * Why: Fastify's `request.signal` follows the request's message, which Node closes as soon as its body
 * was read; with a body it aborts under a client that is still there.
 */
export function watchClient(reply: FastifyReply): AbortSignal {
  const abort = new AbortController()
  const onClose = () => {
    if (!reply.raw.writableFinished) abort.abort(new ApiError('client_closed_request'))
  }
  if (reply.raw.closed || reply.raw.destroyed) onClose()
  else reply.raw.once('close', onClose)
  return abort.signal
}
