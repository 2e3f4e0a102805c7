/** Statements for the prices of projects that run on SQLite and PostgreSQL alike. */
import type { Dialect } from '../db/dialect.ts'

export const PRICE_COLUMNS = [
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

/** The number of prices of a project (prices_project_id_id). */
export const COUNT_PRICES = `
SELECT count(*) AS count
FROM prices
WHERE project_id = @project_id
`

/** Removes prices (prices_project_id_id). */
export function deletePrices({ among }: Dialect): string {
  return `
DELETE FROM prices
WHERE project_id = @project_id AND id ${among('ids')}
`
}

/** All prices of a project, in order of creation (prices_project_id_id, then sorted). */
export const SELECT_PRICES = `
SELECT
  ${PRICE_COLUMNS.join(',\n  ')}
FROM prices
WHERE project_id = @project_id
ORDER BY price_key
`
