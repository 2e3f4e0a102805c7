/** Prices of projects in SQLite. Few rows, always read anew: a change is seen by the next request. */
import { createPriceTable, type PriceTable } from '../../../domain/prices/price-table.ts'
import {
  layerPrices,
  PRICES_PER_PROJECT_MAX,
  type ProjectPrice,
} from '../../../domain/prices/project-prices.ts'
import { ApiError } from '../../../errors.ts'
import type { PriceStore } from '../../api/prices.ts'
import type { Connection } from '../db/connection.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import * as SQL from './prices.sql.ts'

/** The package's prices; the same for all, and a model's periods are read once. */
const defaults = createPriceTable()

/** The prices of a project over the package's, read on the connection that is given. */
export function openPriceTable(db: Connection, project_id: string): PriceTable {
  const select = db.prepare(SQL.SELECT_MODEL_PRICES)
  return layerPrices((llm_id) => select.all({ project_id, llm_id }) as ProjectPrice[], defaults)
}

export function createPriceStore(db: Connection, commit: GroupCommit): PriceStore {
  const insertPrice = db.prepare(SQL.INSERT_PRICE)
  const countPrices = db.prepare(SQL.COUNT_PRICES).pluck()
  const selectPrices = db.prepare(SQL.SELECT_PRICES)
  const deletePrice = db.prepare(SQL.DELETE_PRICE)

  function insertAll(prices: readonly ProjectPrice[]): void {
    for (const price of prices) insertPrice.run(price)
    const [first] = prices
    if (first && (countPrices.get(first) as number) > PRICES_PER_PROJECT_MAX) {
      const message = `A project has at most ${PRICES_PER_PROJECT_MAX} prices.`
      throw new ApiError('validation_failed', { param: 'costs', message })
    }
  }

  return {
    createPrices: (prices) => commit.write(() => insertAll(prices)),
    async listPrices(project_id) {
      return selectPrices.all({ project_id }) as ProjectPrice[]
    },
    purgePrices: (project_id, ids) =>
      commit.write(() => {
        for (const id of ids) deletePrice.run({ project_id, id })
      }),
    openPriceTable: (projectId) => openPriceTable(db, projectId),
  }
}
