/** Decides when a failed request may be repeated at another model. */
import { ApiError, type ErrorCode } from '../../errors.ts'

/** Failures that may be specific to one model. */
const FALLBACK_CODES: readonly ErrorCode[] = [
  'upstream_unreachable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_auth',
  'upstream_rate_limited',
  'upstream_timeout',
]

/**
 * Returns if the next candidate may answer after a failure; otherwise throws the error for the client.
 *
 * @param index - of the candidate that failed
 * @param hasBegun - whether any part of its answer was passed on
 *
 * Spec: §8 (not shown). Choice: a request at fault itself is never repeated at another model.
 */
export function requireFallback(
  error: unknown,
  { index, isLast, hasBegun }: { index: number; isLast: boolean; hasBegun: boolean },
): void {
  if (hasBegun || !(error instanceof ApiError) || !FALLBACK_CODES.includes(error.code)) throw error
  if (isLast) throw index === 0 ? error : withoutClientRetries(error)
}

/** Returns the same error with a header that tells client libraries not to retry. */
export function withoutClientRetries(error: ApiError): ApiError {
  const { code, message, param, retryAfterS, headers, cause } = error
  return new ApiError(code, {
    message,
    cause,
    headers: { ...headers, 'x-should-retry': 'false' },
    ...(param === null ? {} : { param }),
    ...(retryAfterS === null ? {} : { retryAfterS }),
  })
}
