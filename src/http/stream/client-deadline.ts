/** The client's own timeout, which client libraries send in a header. */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../errors.ts'

/** The first header with a valid value is used. */
const TIMEOUT_HEADERS = ['x-stainless-timeout', 'x-stainless-read-timeout'] as const
/** Limit in seconds: one day. Longer timeouts are ignored. */
const TIMEOUT_S_MAX = 86_400

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
