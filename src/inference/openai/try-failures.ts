/** Decides after a failed try whether to retry, and how the upstream is treated. */
import { ApiError } from '../../errors.ts'
import { isSurelyUnprocessed, statusOf } from './upstream/errors.ts'
import { RETRY_AFTER_S_MAX, TryFailure } from './upstream/retry.ts'
import type { TargetUse } from './upstream/target-pool.ts'

/**
 * Spec: §8 (not shown).
 * Choice: a request is sent again only if the upstream certainly did not process it, since a completion costs money
 * and may have effects. After 502 and 504 of a proxy, resets and timeouts, the upstream may still be at work.
 */
export function toTryFailure(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  if (isSurelyUnprocessed(error)) return new TryFailure(error)
  const status = statusOf(error)
  if (status === 503) return new TryFailure(error)
  const { retryAfterS } = error
  const isShortWait = retryAfterS !== null && retryAfterS <= RETRY_AFTER_S_MAX
  return status === 429 && isShortWait ? new TryFailure(error, retryAfterS * 1000) : error
}

/** Notes a failure at its upstream, which is then not used for a while, or for the time that it asked for. */
export function noteFailure(use: TargetUse<unknown>, failure: unknown): void {
  const error = failure instanceof TryFailure ? failure.error : failure
  if (!(error instanceof ApiError)) return
  if (error.code === 'upstream_rate_limited') use.fail({ restMs: (error.retryAfterS ?? 1) * 1000 })
  else if (isOutOfUse(error) || isUpstreamFault(error)) use.fail()
}

function isOutOfUse({ code }: ApiError): boolean {
  return code === 'upstream_unreachable' || code === 'upstream_auth'
}

export function isUpstreamFault(error: unknown): boolean {
  const codes = ['upstream_error', 'upstream_invalid_response', 'upstream_timeout']
  return error instanceof ApiError && codes.includes(error.code)
}

/** Whether the bytes received are no valid answer; they may even belong to another request. */
export function isNonsense(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_invalid_response'
}
