/** Prices of projects in SQLite. Few rows, which are never cached: the next request sees a change. */
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { PriceStore } from '../../api/prices/prices.ts'
import { SELECT_PRICES } from '../../base/prices/prices.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createPriceStore(db: Connection, writes: Writes): PriceStore {
  const selectPrices = db.prepare(SELECT_PRICES)
  return {
    createPrices: (prices) => writes.run('create_prices', prices),
    async listPrices(project_id) {
      return orStoreError(() => selectPrices.all({ project_id }) as ProjectPrice[])
    },
    purgePrices: (project_id, ids) => writes.run('purge_prices', { project_id, ids }),
  }
}
