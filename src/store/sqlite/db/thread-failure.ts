/** Errors on their way from a thread: structured clone would make plain errors of them. */
import { ApiError, type ErrorCode } from '../../../errors.ts'

/** What a reply of a thread carries in the place of a value. */
export interface Failure {
  /** An ApiError. */
  readonly failure?: ApiFailure
  /** The stack of anything else. */
  readonly crash?: string
}

/** An ApiError as structured clone carries it. */
interface ApiFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly param: string | null
  readonly retryAfterS: number | null
  readonly headers: Readonly<Record<string, string>>
  /** Why, for the log. */
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

/** The error that a reply carries, or null when it carries a value. */
export function toReplyError({ failure, crash }: Failure): ApiError | null {
  if (failure) {
    const { code, message, param, retryAfterS, headers, cause } = failure
    return new ApiError(code, {
      message,
      headers,
      ...(param === null ? {} : { param }),
      ...(retryAfterS === null ? {} : { retryAfterS }),
      ...(cause === null ? {} : { cause: new Error(cause) }),
    })
  }
  if (crash === undefined) return null
  return new ApiError('internal_error', { cause: new Error(crash) })
}
