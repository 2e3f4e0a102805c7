/** Tells when the client of a request has left. Never answers and never ends anything by itself. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../errors.ts'

/**
 * Opens what ends one request: it is aborted when its connection closes before the answer is out (its reason is
 * then client_closed_request), and by any other holder.
 */
export type OpenAbort = (reply: FastifyReply) => AbortController

/**
 * What ends requests together with a signal that outlives them all.
 *
 * Why: Fastify's `request.signal` follows the request's message, which Node closes as soon as its body was read;
 * with a body it aborts under a client that is still there. AbortSignal.any keeps 1.2 kB of each request for as
 * long as the lasting signal lives. Here the lasting signal forgets a request when its answer is out.
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
