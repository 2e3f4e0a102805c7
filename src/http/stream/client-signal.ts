/** Signals when the client of a request has disconnected. Never sends or ends a response. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../errors.ts'

/**
 * Opens the abort controller of one request. It is aborted when the connection closes before the response is sent
 * (with the reason client_closed_request), and by any other owner of the controller.
 */
export type OpenAbort = (reply: FastifyReply) => AbortController

/**
 * Aborts requests when a signal that outlives them all is aborted.
 *
 * Why: Fastify's `request.signal` follows the incoming message, which Node closes once its body was read: with a body
 * it aborts while the client is still connected. AbortSignal.any keeps 1.2 kB of each request for as long as the
 * lasting signal lives. Here the lasting signal drops a request when its response is sent.
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
    running.add(abort)
    onceClosed(raw, () => {
      running.delete(abort)
      if (!raw.writableFinished) abort.abort(new ApiError('client_closed_request'))
    })
    return abort
  }
}

/** Calls back when the connection of a response closes, or at once if it has closed already. */
export function onceClosed(raw: ServerResponse, callback: () => void): void {
  if (raw.closed || raw.destroyed) callback()
  else raw.once('close', callback)
}
