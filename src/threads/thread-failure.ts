/** Carries errors across threads: structured clone would turn them into plain errors. */
import { ApiError, type ErrorCode } from '../errors.ts'

/** The error that a reply of a thread carries instead of a value. */
export interface Failure {
  /** An ApiError. */
  readonly failure?: ApiFailure
  /** The stack of any other error. */
  readonly crash?: string
}

/** An ApiError in a form that structured clone can carry. */
interface ApiFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly param: string | null
  readonly retryAfterS: number | null
  readonly headers: Readonly<Record<string, string>>
  /** The stack or text of the cause, for the log. */
  readonly cause: string | null
}

export function renderFailure(error: unknown): Failure {
  if (error instanceof ApiError) {
    const { code, message, param, retryAfterS, headers } = error
    const cause = error.cause === undefined ? null : describe(error.cause)
    return { failure: { code, message, param, retryAfterS, headers, cause } }
  }
  return { crash: describe(error) }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Returns the error that a reply carries, or null when it carries a value. */
export function toReplyError({ failure, crash }: Failure): ApiError | null {
  if (failure) {
    const { code, message, param, retryAfterS, headers, cause } = failure
    return new ApiError(code, {
      message,
      headers,
      param,
      retryAfterS,
      ...(cause === null ? {} : { cause: new Error(cause) }),
    })
  }
  if (crash === undefined) return null
  return new ApiError('internal_error', { cause: new Error(crash) })
}
