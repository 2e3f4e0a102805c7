/** Statements over the prices of projects. */
import { insertRows } from '../db/rows.sql.ts'

const COLUMNS = [
  'project_id',
  'id',
  'llm_id',
  'provider_id',
  'effective_at_us',
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
  'svc_user_id',
  'created_at_us',
]

/** New prices; their ids are the server's own. */
export const INSERT_PRICES = insertRows('prices', COLUMNS)

/** How many prices a project has (prices_project_id_id_key). */
export const COUNT_PRICES = `
SELECT count(*) AS count
FROM prices
WHERE project_id = @project_id
`

/** All prices of a project, as they came (prices_project_id_id_key, then sorted). */
export const SELECT_PRICES = `
SELECT
  ${COLUMNS.join(',\n  ')}
FROM prices
WHERE project_id = @project_id
ORDER BY price_key
`

/** Removes prices (prices_project_id_id_key). */
export const DELETE_PRICES = `
DELETE FROM prices
WHERE project_id = @project_id AND id = ANY (@ids::text[])
`

/** One at a time changes the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`
