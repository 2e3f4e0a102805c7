/** Prices of projects in PostgreSQL. Few rows, never cached: the next request of any process sees a change. */
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { PriceStore } from '../../api/prices/prices.ts'
import { createPriceWrites } from '../../base/prices/price-writes.ts'
import { SELECT_PRICES } from '../../base/prices/prices.sql.ts'
import type { Postgres } from '../db/client.ts'
import { POSTGRES } from '../db/dialect.sql.ts'
import { runSteps } from '../db/run-steps.ts'
import { LOCK_PROJECT_PRICES } from '../projects/retention.sql.ts'

const WRITES = createPriceWrites(POSTGRES)

export function createPriceStore(db: Postgres): PriceStore {
  return {
    async createPrices(prices) {
      const [one] = prices
      if (one === undefined) return
      await db.transaction(async (tx) => {
        // Otherwise two concurrent writers could both find room.
        await tx.all(LOCK_PROJECT_PRICES, { project_id: one.project_id })
        await runSteps(tx, WRITES.create_prices(prices))
      })
    },
    listPrices: (project_id) => db.all<ProjectPrice>(SELECT_PRICES, { project_id }),
    purgePrices: (project_id, ids) => runSteps(db, WRITES.purge_prices({ project_id, ids })),
  }
}
