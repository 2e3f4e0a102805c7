-- Text that is sorted or compared is in the order of its bytes, whatever the database's own order is.
CREATE TABLE keys (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  svc_user_id text NOT NULL,
  svc_username text NOT NULL,
  scopes_json text NOT NULL,
  projects_json text NOT NULL,
  created_at_us bigint NOT NULL,
  revoked_at_us bigint
);

CREATE TABLE prices (
  price_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  llm_id text NOT NULL,
  provider_id text NOT NULL,
  effective_at_us bigint NOT NULL,
  prompt_token_cost text NOT NULL,
  completion_token_cost text NOT NULL,
  -- null: cached tokens cost what other input tokens cost.
  cache_read_input_token_cost text,
  cache_creation_input_token_cost text,
  svc_user_id text NOT NULL,
  created_at_us bigint NOT NULL,
  UNIQUE (project_id, id)
);
