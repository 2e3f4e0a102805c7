-- The calls of built hours by the names of their usage, of all ops (`is_op` 0, no name) and of each: `field` is model or
-- provider. A call is in the group of each of its names, and without usage in that of NULL. `is_own` as in hour_usage.
CREATE TABLE IF NOT EXISTS hour_groups{on_cluster} (
  project_id String,
  field LowCardinality(String),
  is_own UInt8,
  is_op UInt8,
  op_name String,
  hour Int64,
  version UInt64,
  name Nullable(String),
  calls UInt64,
  errors UInt64,
  ended UInt64,
  latency_sum Int64,
  latency_min Int64,
  latency_max Int64,
  ones UInt64,
  zeros UInt64
)
ENGINE = {replicated}MergeTree
ORDER BY (project_id, field, is_own, is_op, op_name, hour, version)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- When the first and the last call of an hour began.
ALTER TABLE hour_calls{on_cluster}
  ADD COLUMN IF NOT EXISTS first_us Int64,
  ADD COLUMN IF NOT EXISTS last_us Int64;

-- Hours from before have neither, so they are built again.
TRUNCATE TABLE built_hours{on_cluster};
