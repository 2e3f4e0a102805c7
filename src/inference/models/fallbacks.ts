/** Decides when a failed request may be repeated at another model, and which failure the client gets. */
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

interface FallbackOptions {
  /** The model and its fallbacks, counted together. */
  readonly candidateCount: number
  /** Called before the failure of the asked model is thrown in place of those of its fallbacks. */
  readonly onAllFailed?: (() => void) | undefined
}

interface Failed {
  /** Whether any part of its answer was passed on. */
  readonly hasBegun: boolean
  /** Of the request. */
  readonly signal: AbortSignal
}

/** The failures of one request, in the order of its candidates. */
interface FallbackRule {
  /** Returns if the next candidate may answer; otherwise throws the error for the client. */
  requireNext(error: unknown, failed: Failed): void
}

/**
 * Spec: §8 (not shown).
 * Choice: what the asked model refuses is never repeated at another model. A fallback that fails in any way is
 * passed over, since the client did not ask for it; when all fail, the client gets the failure of the asked model.
 */
export function createFallbackRule({ candidateCount, onAllFailed }: FallbackOptions): FallbackRule {
  let asked: ApiError | null = null
  let failedCount = 0
  let isRepeated = false
  return {
    requireNext(error, { hasBegun, signal }) {
      failedCount += 1
      // An error of another class is a fault of this server, which must not be hidden.
      if (hasBegun || !(error instanceof ApiError)) throw error
      if (signal.aborted) throw signal.reason
      const mayPass = FALLBACK_CODES.includes(error.code)
      if (asked === null && !mayPass) throw error
      // A fallback that refuses the request has not repeated it.
      isRepeated ||= asked !== null && mayPass
      asked ??= error
      if (failedCount < candidateCount) return
      if (failedCount > 1) onAllFailed?.()
      throw isRepeated ? withoutClientRetries(asked) : asked
    },
  }
}

/** Returns the same error with a header that tells client libraries not to retry. */
export function withoutClientRetries(error: ApiError): ApiError {
  const { code, message, param, retryAfterS, headers, cause, isQuoted } = error
  return new ApiError(code, {
    message,
    cause,
    isQuoted,
    param,
    retryAfterS,
    headers: { ...headers, 'x-should-retry': 'false' },
  })
}
