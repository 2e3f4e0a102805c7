/** What a try that failed says: whether another one may help, and what becomes of its upstream. */
import { ApiError } from '../../errors.ts'
import { isSurelyUnprocessed, statusOf } from './upstream/errors.ts'
import { RETRY_AFTER_S_MAX, TryFailure } from './upstream/retry.ts'
import type { TargetUse } from './upstream/target-pool.ts'

/**
 * Spec: §8 (not shown).
 * Choice: only what the upstream surely did not process is sent again, since a completion costs money and may have
 * effects. 502 and 504 come of proxies whose server may still be at work, as do resets and timeouts.
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

/** An upstream that asks for rest gets it; one that fails is left alone for a while. */
export function noteFailure(use: TargetUse<unknown>, failure: unknown): void {
  const error = failure instanceof TryFailure ? failure.error : failure
  if (!(error instanceof ApiError)) return
  if (error.code === 'upstream_rate_limited') use.fail({ restMs: (error.retryAfterS ?? 1) * 1000 })
  else if (error.code === 'upstream_unreachable' || isUpstreamFault(error)) use.fail()
}

export function isUpstreamFault(error: unknown): boolean {
  const codes = ['upstream_error', 'upstream_invalid_response', 'upstream_timeout']
  return error instanceof ApiError && codes.includes(error.code)
}

/** Whether what came was no answer: it may have been meant for nobody, or for another request. */
export function isNonsense(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_invalid_response'
}
