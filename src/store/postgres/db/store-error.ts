/** Maps errors of the PostgreSQL client to those of Weft. */
import { DatabaseError } from 'pg'
import { ApiError } from '../../../errors.ts'

const RETRY_AFTER_S = 5
const LINE_MAX = 200

/** Conflicts with another transaction: a serialization failure, a deadlock. */
const REPEATABLE: readonly unknown[] = ['40001', '40P01']
const STATEMENT_TIMEOUT = '57014'
/** U+0000, which PostgreSQL cannot store in text. */
const CHARACTER: readonly unknown[] = ['22021', '22P05']
/**
 * Connections that fail, resources that are out, locks, the server's own ends, its disk, a server that only reads, and
 * one that refuses the user: the same may succeed when a person or the time has mended it.
 */
const UNAVAILABLE = /^(?:08|25006|25P03|28|3D|40|53|55P03|57|58|XX)/
/** Their messages are about the server, the database or the user's rights, never about values. */
const TOLD = /^(?:08|25006|28|3D|42501|53|57|58)/

/** Whether an immediate retry of the transaction may succeed. */
export function isRepeatable(error: unknown): boolean {
  return REPEATABLE.includes(codeOf(error))
}

/** Whether the server cancelled a statement because of its time limit. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === STATEMENT_TIMEOUT
}

function codeOf(error: unknown): unknown {
  const told = error instanceof ApiError ? error.cause : error
  return (told as { code?: unknown } | undefined)?.code
}

/** The ApiError for a failed statement. The cause is for the log: it has no statement and no values. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (!(error instanceof DatabaseError)) {
    return isOfNetwork(error) ? toUnavailable(error) : error
  }
  if (CHARACTER.includes(error.code)) {
    const message = 'A text has a character that cannot be stored: U+0000.'
    return new ApiError('validation_failed', { message })
  }
  if (UNAVAILABLE.test(error.code ?? '')) return toUnavailable(error)
  return toCause(error)
}

/** Returns the failure in one line, without text of the statement. */
export function describe(error: unknown): string {
  if (error instanceof ApiError) return describe(error.cause)
  if (error instanceof AggregateError) return describe(error.errors[0])
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  if (error instanceof DatabaseError && code !== undefined && !TOLD.test(String(code))) {
    return `PostgreSQL: error ${code}`
  }
  return message.split('\n')[0]?.slice(0, LINE_MAX) ?? ''
}

function toUnavailable(error: unknown): ApiError {
  return new ApiError('store_unavailable', { cause: toCause(error), retryAfterS: RETRY_AFTER_S })
}

function toCause(error: unknown): Error {
  const { code } = error as { code?: unknown }
  return Object.assign(new Error(describe(error)), { code })
}

/** A reset, an unknown host, a timeout, a closed connection: not the fault of a statement. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError || 'syscall' in error) return true
  return /^(?:Connection terminated|Query read timeout|timeout |Client has encountered|Cannot use a pool|The server does not support SSL|Client was closed)/i.test(
    error.message,
  )
}
