/** The writes of a project's own prices. */
import { requireFewPrices } from '../../../domain/prices/price-limits.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import { COUNT_PRICES } from '../../base/prices/prices.sql.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './prices.sql.ts'

interface PricePurge {
  readonly project_id: string
  readonly ids: readonly string[]
}

export function createPriceWrites(db: Connection) {
  const insertPrice = db.prepare(SQL.INSERT_PRICE)
  const countPrices = db.prepare(COUNT_PRICES).pluck()
  const deletePrice = db.prepare(SQL.DELETE_PRICE)
  return {
    create_prices(prices: readonly ProjectPrice[]): void {
      for (const price of prices) insertPrice.run(price)
      const [first] = prices
      if (first) requireFewPrices(countPrices.get(first) as number)
    },
    purge_prices({ project_id, ids }: PricePurge): void {
      for (const id of ids) deletePrice.run({ project_id, id })
    },
  }
}
