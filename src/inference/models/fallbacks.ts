/** Other models for a request whose model fails before its answer has begun. */
import { ApiError, type ErrorCode } from '../../errors.ts'

/** Failures of a model that another model need not share. */
const FALLBACK_CODES: readonly ErrorCode[] = [
  'upstream_unreachable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_auth',
  'upstream_rate_limited',
  'upstream_timeout',
]

/**
 * Lets the next candidate answer where one failed, or throws what the answer fails with.
 *
 * @param index - of the one that failed
 * @param hasBegun - whether something of its answer was passed on
 *
 * Spec: §8 (not shown). Choice: a client's own fault is never tried at another model.
 */
export function requireFallback(
  error: unknown,
  { index, isLast, hasBegun }: { index: number; isLast: boolean; hasBegun: boolean },
): void {
  if (hasBegun || !(error instanceof ApiError) || !FALLBACK_CODES.includes(error.code)) throw error
  if (isLast) throw index === 0 ? error : withoutClientRetries(error)
}

/** The same error; client libraries will not try again. */
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
