/** Statements for the prices of projects. */
import { insertNamed } from '../../base/db/rows.sql.ts'
import { PRICE_COLUMNS } from '../../base/prices/prices.sql.ts'

/** Inserts a price; the server has chosen its id. */
export const INSERT_PRICE = insertNamed('prices', PRICE_COLUMNS)

/** Removes one price (prices_project_id_id). */
export const DELETE_PRICE = `
DELETE FROM prices
WHERE project_id = @project_id AND id = @id
`
