/** Prices of projects in PostgreSQL. Few rows, never cached: the next request of any process sees a change. */
import { requireFewPrices } from '../../../domain/prices/price-limits.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { PriceStore } from '../../api/prices/prices.ts'
import { COUNT_PRICES, SELECT_PRICES } from '../../base/prices/prices.sql.ts'
import type { Postgres } from '../db/client.ts'
import { toRows } from '../db/rows.sql.ts'
import * as SQL from './prices.sql.ts'

export function createPriceStore(db: Postgres): PriceStore {
  return {
    async createPrices(prices) {
      const [first] = prices
      if (first === undefined) return
      const { project_id } = first
      await db.transaction(async (tx) => {
        // Otherwise two concurrent writers could both find room.
        await tx.all(SQL.LOCK_PROJECT_PRICES, { project_id })
        await tx.run(SQL.INSERT_PRICES, { rows: toRows(prices) })
        const counted = await tx.first<{ count: number }>(COUNT_PRICES, { project_id })
        requireFewPrices(counted?.count ?? 0)
      })
    },
    listPrices: (project_id) => db.all<ProjectPrice>(SELECT_PRICES, { project_id }),
    async purgePrices(project_id, ids) {
      await db.run(SQL.DELETE_PRICES, { project_id, ids })
    },
  }
}
