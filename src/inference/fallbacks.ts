/** Other models for a request whose model fails before its answer has begun. */
import { ApiError, type ErrorCode } from '../errors.ts'
import type { Delta } from './backend.ts'

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
 * The deltas of the first candidate that begins to answer. What breaks later stays broken.
 *
 * @param candidates - at least one, in order; each starts its completion when it is called
 * @throws what the last candidate threw; of a failure after a fallback client libraries are told not to
 * try again
 *
 * Spec: §8 (not shown). Choice: a client's own fault is never tried at another model.
 */
export async function* withFallbacks(
  candidates: readonly (() => AsyncIterable<Delta>)[],
): AsyncGenerator<Delta> {
  for (const [index, start] of candidates.entries()) {
    let hasBegun = false
    try {
      for await (const delta of start()) {
        hasBegun = true
        yield delta
      }
      return
    } catch (error) {
      const isLast = index === candidates.length - 1
      if (hasBegun || !(error instanceof ApiError) || !FALLBACK_CODES.includes(error.code)) {
        throw error
      }
      if (isLast) throw index === 0 ? error : withoutClientRetries(error)
    }
  }
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
