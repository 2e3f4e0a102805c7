/** Prices of projects in SQLite. Few rows, always read anew: a change is seen by the next request. */
import { createPriceTable, type PriceTable } from '../../../domain/prices/price-table.ts'
import { layerPrices, type ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { PriceStore } from '../../api/prices.ts'
import type { Connection } from '../db/connection.ts'
import type { Writes } from '../write/writes.ts'
import * as SQL from './prices.sql.ts'

/** The package's prices; the same for all, and a model's periods are read once. */
const defaults = createPriceTable()

/** The prices of a project over the package's, read on the connection that is given. */
export function openPriceTable(db: Connection, project_id: string): PriceTable {
  const select = db.prepare(SQL.SELECT_MODEL_PRICES)
  return layerPrices((llm_id) => select.all({ project_id, llm_id }) as ProjectPrice[], defaults)
}

/** @param db - for what is read here */
export function createPriceStore(db: Connection, writes: Writes): PriceStore {
  const selectPrices = db.prepare(SQL.SELECT_PRICES)
  return {
    createPrices: (prices) => writes.run('create_prices', prices),
    async listPrices(project_id) {
      return selectPrices.all({ project_id }) as ProjectPrice[]
    },
    purgePrices: (project_id, ids) => writes.run('purge_prices', { project_id, ids }),
    openPriceTable: (projectId) => openPriceTable(db, projectId),
  }
}
