/** Statements for the prices of projects that run on SQLite and PostgreSQL alike. */

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
