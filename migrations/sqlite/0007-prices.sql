-- Prices of a project's own, over those of the price package. USD for one token, as decimal text: nothing
-- is rounded where it lies. A price holds from effective_at_us on.
CREATE TABLE prices (
  price_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  llm_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  effective_at_us INTEGER NOT NULL,
  prompt_token_cost TEXT NOT NULL,
  completion_token_cost TEXT NOT NULL,
  -- null: cached tokens cost what other input tokens cost.
  cache_read_input_token_cost TEXT,
  cache_creation_input_token_cost TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX prices_project_id_id ON prices (project_id, id);
CREATE INDEX prices_project_id_llm_id_effective_at_us ON prices (project_id, llm_id, effective_at_us);

-- How many requests to the model the usage stands for.
ALTER TABLE call_usage ADD COLUMN requests INTEGER NOT NULL DEFAULT 1 CHECK (requests >= 0);
