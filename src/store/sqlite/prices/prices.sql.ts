/** Statements for the prices of projects. */
import { insertNamed } from '../../base/db/rows.sql.ts'
import { PRICE_COLUMNS } from '../../base/prices/prices.sql.ts'

/** Inserts a price; the server has chosen its id. */
export const INSERT_PRICE = insertNamed('prices', PRICE_COLUMNS)

/** The number of prices of a project (prices_project_id_id). */
export const COUNT_PRICES = `
SELECT count(*)
FROM prices
WHERE project_id = @project_id
`

/** All prices of a project, in order of creation (prices_project_id_id, then sorted). */
export const SELECT_PRICES = `
SELECT
  ${PRICE_COLUMNS.join(',\n  ')}
FROM prices
WHERE project_id = @project_id
ORDER BY price_key
`

/** Removes one price (prices_project_id_id). */
export const DELETE_PRICE = `
DELETE FROM prices
WHERE project_id = @project_id AND id = @id
`
