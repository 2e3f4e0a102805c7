-- Tokens by kind: what is paid at a price of its own is counted by itself. Reports stored before have none of them.
ALTER TABLE call_usage ADD COLUMN input_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (input_audio_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN input_image_tokens INTEGER NOT NULL DEFAULT 0 CHECK (input_image_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN cache_read_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_read_audio_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN cache_creation_1h_input_tokens INTEGER NOT NULL DEFAULT 0 CHECK (cache_creation_1h_input_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0 CHECK (reasoning_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN output_audio_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_audio_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN output_image_tokens INTEGER NOT NULL DEFAULT 0 CHECK (output_image_tokens >= 0);
ALTER TABLE call_usage ADD COLUMN nested_input_audio_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_input_image_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_cache_read_audio_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_cache_creation_1h_input_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_reasoning_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_output_audio_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_output_image_tokens INTEGER;

-- Sums of children's reports exist for all counters or for none.
UPDATE call_usage
SET
  nested_input_audio_tokens = 0,
  nested_input_image_tokens = 0,
  nested_cache_read_audio_tokens = 0,
  nested_cache_creation_1h_input_tokens = 0,
  nested_reasoning_tokens = 0,
  nested_output_audio_tokens = 0,
  nested_output_image_tokens = 0
WHERE nested_requests IS NOT NULL;

-- Pieces of hours have a column for each counter.
UPDATE stats_hours
SET
  built_revision = NULL,
  generation = generation + 1;
