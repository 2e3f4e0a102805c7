/** Maps errors of the ClickHouse client to those of Weft. */
import { ClickHouseError } from '@clickhouse/client'
import { ApiError } from '../../../errors.ts'

/** Codes of ClickHouse after which the same statement may succeed. */
const PASSING = new Set([
  // Timeouts, too many queries or parts at once, no thread, no time for this one, a full disk.
  ...['159', '209', '202', '203', '252', '439', '745', '243'],
  // Cancelled: by an operator, or by a server that shuts down.
  ...['236', '394'],
  // Memory, the network, a read-only replica, an insert with an unknown status, keeper.
  ...['173', '241', '210', '279', '242', '319', '425', '225', '999'],
  // Too few replicas for a quorum, an unsatisfied previous quorum, or a replica that lags behind.
  ...['285', '286', '289', '254'],
])
const TIMEOUT = '159'
/** A replica has not seen the last change of a table yet. */
const CANNOT_ASSIGN_ALTER = '517'
const RETRY_AFTER_S = 5
const LINE_MAX = 200

/**
 * Whether the same statement may succeed later: ClickHouse is unavailable, slow or full. Anything that is not an error
 * of ClickHouse itself (a reset, a timeout, the page of a proxy) is transient.
 */
export function isPassing(error: unknown): boolean {
  return error instanceof ClickHouseError ? PASSING.has(error.code) : error instanceof Error
}

/** Whether another process altered the table concurrently. */
export function isAlteredConcurrently(error: unknown): boolean {
  return error instanceof ClickHouseError && error.code === CANNOT_ASSIGN_ALTER
}

/** The ApiError for a failed statement. The cause is for the log: it has no statement and no values. */
export function toStoreError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const cause = new Error(describe(error))
  if (error instanceof ClickHouseError && error.code === TIMEOUT) {
    return new ApiError('read_timeout', { cause })
  }
  return isPassing(error)
    ? new ApiError('store_unavailable', { cause, retryAfterS: RETRY_AFTER_S })
    : new ApiError('internal_error', { cause })
}

/** What the client says of a request that took too long; its only message without a code that is worth telling. */
const CLIENT_TIMEOUT = 'Timeout error.'

/**
 * Returns the failure in one line. Only failures of the network have their own words: those of an answer that cannot
 * be read may repeat a statement, its values, rows, or the page of a proxy.
 */
export function describe(error: unknown): string {
  if (error instanceof ClickHouseError) {
    return `ClickHouse: ${error.type ?? 'error'} (code ${error.code})`
  }
  const { message, code } = Object(error) as { message?: string; code?: unknown }
  if (message === CLIENT_TIMEOUT) return message
  if (typeof code !== 'string') return 'an answer that cannot be read'
  const [line] = (message || code).split('\n')
  return (line as string).slice(0, LINE_MAX)
}
