/** Maps errors of SQLite to ApiErrors. */
import { SqliteError } from 'better-sqlite3'
import { ApiError } from '../../../errors.ts'

const UNAVAILABLE =
  /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|PROTOCOL)/

/** What the driver says of a connection that was closed: the server stops, and a read has gone on until now. */
const CLOSED = 'The database connection is not open'

/** Returns the ApiError for a failed statement: store_unavailable, request_too_large, server_draining; others unchanged. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof TypeError && error.message === CLOSED) return new ApiError('server_draining')
  if (!(error instanceof SqliteError)) return error
  if (isUnavailable(error)) {
    return new ApiError('store_unavailable', { cause: error, retryAfterS: 5 })
  }
  if (error.code === 'SQLITE_TOOBIG') return new ApiError('request_too_large', { cause: error })
  return error
}

/** Runs statements. @throws what toStoreError makes of their errors */
export function orStoreError<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Whether a statement failed because of the disk, the file or its locks. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof SqliteError && UNAVAILABLE.test(error.code)
}

/** Whether another connection holds the lock that a transaction needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY')
}
