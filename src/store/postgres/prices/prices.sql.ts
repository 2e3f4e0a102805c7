/** Statements over the prices of projects. */
import { PRICE_COLUMNS } from '../../base/prices/prices.sql.ts'
import { insertRows } from '../db/rows.sql.ts'

/** New prices; their ids are the server's own. */
export const INSERT_PRICES = insertRows('prices', PRICE_COLUMNS)

/** Removes prices (prices_project_id_id_key). */
export const DELETE_PRICES = `
DELETE FROM prices
WHERE project_id = @project_id AND id = ANY (@ids::text[])
`

/** Serializes changes of the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`
