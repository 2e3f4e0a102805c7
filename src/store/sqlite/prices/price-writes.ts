/** The writes of a project's own prices. */
import { PRICES_PER_PROJECT_MAX } from '../../../domain/prices/price-limits.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import { ApiError } from '../../../errors.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './prices.sql.ts'

interface PricePurge {
  readonly project_id: string
  readonly ids: readonly string[]
}

export function createPriceWrites(db: Connection) {
  const insertPrice = db.prepare(SQL.INSERT_PRICE)
  const countPrices = db.prepare(SQL.COUNT_PRICES).pluck()
  const deletePrice = db.prepare(SQL.DELETE_PRICE)
  return {
    create_prices(prices: readonly ProjectPrice[]): void {
      for (const price of prices) insertPrice.run(price)
      const [first] = prices
      if (first && (countPrices.get(first) as number) > PRICES_PER_PROJECT_MAX) {
        const message = `A project has at most ${PRICES_PER_PROJECT_MAX} prices.`
        throw new ApiError('validation_failed', { param: 'costs', message })
      }
    },
    purge_prices({ project_id, ids }: PricePurge): void {
      for (const id of ids) deletePrice.run({ project_id, id })
    },
  }
}
