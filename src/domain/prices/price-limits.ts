/** Separate from the price data of the package, so that the writer does not load its megabytes. */
import { ApiError } from '../../errors.ts'

/** Limit: prices of a project; all are read to answer a query. */
export const PRICES_PER_PROJECT_MAX = 10_000

/** @param count - after the write, which the error undoes. @throws ApiError validation_failed */
export function requirePriceLimit(count: number): void {
  if (count <= PRICES_PER_PROJECT_MAX) return
  const message = `A project has at most ${PRICES_PER_PROJECT_MAX} prices.`
  throw new ApiError('validation_failed', { param: 'costs', message })
}
