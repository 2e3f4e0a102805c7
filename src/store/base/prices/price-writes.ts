/** The writes of a project's own prices, in SQLite and PostgreSQL alike. */
import { requirePriceLimit } from '../../../domain/prices/price-limits.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { Dialect } from '../db/dialect.ts'
import { count, run, type Steps } from '../db/steps.ts'
import { COUNT_PRICES, deletePrices, PRICE_COLUMNS } from './prices.sql.ts'

interface PricePurge {
  readonly project_id: string
  readonly ids: readonly string[]
}

export function createPriceWrites(dialect: Dialect) {
  const insertPrices = dialect.insertMany('prices', PRICE_COLUMNS)
  const DELETE_PRICES = deletePrices(dialect)
  return {
    /** @param prices - of one project */
    *create_prices(prices: readonly ProjectPrice[]): Steps<void> {
      const [one] = prices
      if (one === undefined) return
      yield* insertPrices(prices)
      requirePriceLimit(yield* count(COUNT_PRICES, one))
    },
    *purge_prices({ project_id, ids }: PricePurge): Steps<void> {
      yield* run(DELETE_PRICES, { project_id, ids })
    },
  }
}
