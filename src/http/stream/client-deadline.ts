/** The client's own timeout, which client libraries send in a header. */
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../errors.ts'

/** In this order: the first that can be read counts. */
const TIMEOUT_HEADERS = ['x-stainless-timeout', 'x-stainless-read-timeout'] as const
/** Limit: longer waits are as good as none, in seconds; one day. */
const TIMEOUT_S_MAX = 86_400

/** The end of a client's patience. */
export interface ClientDeadline {
  /** The client got what it waits for. Idempotent. */
  lift(): void
}

/**
 * Starts the clock of a request; null when its client names no timeout.
 *
 * @param abort - aborted with upstream_timeout when the time is over
 *
 * Spec: §4.3 (headers not shown).
 * Choice: nothing is generated for longer than the client listens, even where a proxy hides that it left.
 * Libraries cut the seconds off behind the point, so the clock runs to the next whole second: it never ends
 * before theirs.
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
