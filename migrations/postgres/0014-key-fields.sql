-- What a key may use, until when, and its secret before the last rotation. null: no name, no end, the server's default.
ALTER TABLE keys
  ADD COLUMN name text,
  ADD COLUMN expires_at_us bigint,
  ADD COLUMN models_json text,
  ADD COLUMN requests_per_minute bigint,
  ADD COLUMN tokens_per_minute bigint,
  ADD COLUMN parallel_requests bigint,
  -- Days since 1970, UTC.
  ADD COLUMN last_used_day bigint,
  ADD COLUMN previous_hash bytea,
  ADD COLUMN previous_expires_at_us bigint;
CREATE UNIQUE INDEX keys_previous_hash ON keys (previous_hash) WHERE previous_hash IS NOT NULL;
