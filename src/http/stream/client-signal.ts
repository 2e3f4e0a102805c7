/**
 * Aborts requests whose client no longer waits: it has disconnected, or its own timeout, which client libraries send in
 * a header, is over. Never sends or ends a response.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../errors.ts'

/** The first header with a valid value is used. */
const TIMEOUT_HEADERS = ['x-stainless-timeout', 'x-stainless-read-timeout'] as const
/** Limit in seconds: one day. Longer timeouts are ignored. */
const TIMEOUT_S_MAX = 86_400

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

/** The running timeout of a client. */
export interface ClientDeadline {
  /** Stops the timer when the response has been sent. Idempotent. */
  lift(): void
}

/**
 * Starts the timer of a request; returns null when its client sends no timeout.
 *
 * @param abort - aborted with upstream_timeout when the time is over
 *
 * Spec: §4.3 (headers not shown).
 * Choice: nothing is generated for longer than the client waits, even if a proxy hides that it disconnected.
 * Libraries truncate the timeout to whole seconds, so the timer runs to the next whole second: it never fires before
 * theirs.
 */
export function startClientDeadline(
  headers: IncomingHttpHeaders,
  abort: AbortController,
): ClientDeadline | null {
  const seconds = readTimeout(headers)
  if (seconds === null) return null
  const message = "The answer did not come within the client's own timeout."
  const expire = () => abort.abort(new ApiError('upstream_timeout', { message }))
  const timer = setTimeout(expire, (Math.floor(seconds) + 1) * 1000).unref()
  return { lift: () => clearTimeout(timer) }
}

function readTimeout(headers: IncomingHttpHeaders): number | null {
  for (const name of TIMEOUT_HEADERS) {
    const text = headers[name]
    if (typeof text !== 'string') continue
    if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text) && Number(text) <= TIMEOUT_S_MAX) return Number(text)
  }
  return null
}
