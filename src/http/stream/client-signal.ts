/** Tells when the client of a request has left. Never answers and never ends anything by itself. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../errors.ts'

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

/** Opens what ends one request: it is aborted when the client leaves, and by whoever else holds it. */
export type OpenAbort = (reply: FastifyReply) => AbortController

/**
 * What ends requests together with a signal that outlives them all.
 *
 * Why: each signal that is joined costs as much as the answer's headers, and AbortSignal.any more; so a request
 * has one for everything, and the lasting signal forgets it when its answer is out.
 */
export function createAborts(lasting: AbortSignal): OpenAbort {
  const running = new Set<AbortController>()
  const endAll = () => {
    for (const abort of running) abort.abort(lasting.reason)
  }
  lasting.addEventListener('abort', endAll, { once: true })
  return ({ raw }) => {
    const abort = new AbortController()
    if (lasting.aborted) abort.abort(lasting.reason)
    const onClose = () => {
      running.delete(abort)
      if (!raw.writableFinished) abort.abort(new ApiError('client_closed_request'))
    }
    if (raw.closed || raw.destroyed) {
      onClose()
    } else {
      running.add(abort)
      raw.on('close', onClose)
    }
    return abort
  }
}
