/** Statements over the prices of projects. */
import { PRICE_COLUMNS } from '../../base/prices/prices.sql.ts'
import { insertRows } from '../db/rows.sql.ts'

/** New prices; their ids are the server's own. */
export const INSERT_PRICES = insertRows('prices', PRICE_COLUMNS)

/** How many prices a project has (prices_project_id_id_key). */
export const COUNT_PRICES = `
SELECT count(*) AS count
FROM prices
WHERE project_id = @project_id
`

/** All prices of a project in the order of insertion (prices_project_id_id_key, then sorted). */
export const SELECT_PRICES = `
SELECT
  ${PRICE_COLUMNS.join(',\n  ')}
FROM prices
WHERE project_id = @project_id
ORDER BY price_key
`

/** Removes prices (prices_project_id_id_key). */
export const DELETE_PRICES = `
DELETE FROM prices
WHERE project_id = @project_id AND id = ANY (@ids::text[])
`

/** Serializes changes of the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`
