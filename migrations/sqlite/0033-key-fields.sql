-- What a key may use, until when, and its secret before the last rotation. null: no name, no end, the server's default.
ALTER TABLE keys ADD COLUMN name TEXT;
ALTER TABLE keys ADD COLUMN expires_at_us INTEGER;
ALTER TABLE keys ADD COLUMN models_json TEXT;
ALTER TABLE keys ADD COLUMN requests_per_minute INTEGER;
ALTER TABLE keys ADD COLUMN tokens_per_minute INTEGER;
ALTER TABLE keys ADD COLUMN parallel_requests INTEGER;
-- Days since 1970, UTC.
ALTER TABLE keys ADD COLUMN last_used_day INTEGER;
ALTER TABLE keys ADD COLUMN previous_hash BLOB;
ALTER TABLE keys ADD COLUMN previous_expires_at_us INTEGER;
CREATE UNIQUE INDEX keys_previous_hash ON keys (previous_hash) WHERE previous_hash IS NOT NULL;
