/** Errors as plain data, since they go between threads and processes. */
import { ApiError, type PlainError } from '../../errors.ts'

export interface EngineError extends PlainError {
  /** For the log only: what really happened. */
  readonly detail: string | null
}

/** Converts an error to plain data. Anything but an ApiError becomes internal_error. */
export function toPlainError(error: unknown): EngineError {
  if (error instanceof ApiError) {
    const { code, message, param } = error
    return { code, message, param, detail: null }
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const { code, message, param } = new ApiError('internal_error')
  return { code, message, param, detail }
}

/** Converts plain data back to an ApiError. */
export function fromPlainError({ code, message, param, detail }: EngineError): ApiError {
  return new ApiError(code, {
    message,
    param,
    ...(detail === null ? {} : { cause: new Error(detail) }),
  })
}
