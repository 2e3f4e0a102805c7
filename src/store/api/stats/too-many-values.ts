/** The refusal of statistics with too many values, which longer buckets may mend. */
import { ApiError } from '../../../errors.ts'

const PARAM = 'granularity'

/** Returns the error of the contract (stats.ts) for more values than asked for. */
export function tooManyValues(): ApiError {
  const message =
    'granularity results in too many values: use longer buckets, fewer metrics or a filter'
  return new ApiError('validation_failed', { message, param: PARAM })
}

export function isTooManyValues(error: unknown): boolean {
  return error instanceof ApiError && error.param === PARAM
}
