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

/** Joins the signals of one request: aborts with the first of them, and with the lasting one. */
export type JoinSignals = (reply: FastifyReply, signals: readonly AbortSignal[]) => AbortSignal

/**
 * Joins signals of requests with one that outlives them all.
 *
 * Why: AbortSignal.any is made for any lives of its signals, which costs more than all else that is kept
 * of a request; here the lasting signal forgets a request when its answer is out.
 */
export function createSignalJoin(lasting: AbortSignal): JoinSignals {
  const running = new Set<AbortController>()
  const endAll = () => {
    for (const abort of running) abort.abort(lasting.reason)
  }
  lasting.addEventListener('abort', endAll, { once: true })
  return (reply, signals) => {
    const abort = new AbortController()
    for (const signal of [...signals, ...(lasting.aborted ? [lasting] : [])]) {
      if (signal.aborted) abort.abort(signal.reason)
      else signal.addEventListener('abort', () => abort.abort(signal.reason), { once: true })
    }
    running.add(abort)
    reply.raw.once('close', () => running.delete(abort))
    return abort.signal
  }
}
