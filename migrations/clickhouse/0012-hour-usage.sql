-- The usage of built hours by model as it was served, of all ops (`is_op` 0, no name) and of each: as reported, or each token
-- once (`is_own` 1), as if no request had several calls. `numbers` are the sums by which statistics compute tokens and costs.
CREATE TABLE IF NOT EXISTS hour_usage{on_cluster} (
  project_id String,
  is_own UInt8,
  is_op UInt8,
  op_name String,
  hour Int64,
  version UInt64,
  model String,
  provider String,
  upstream_model String,
  service_tier String,
  reports_cost UInt8,
  numbers Array(Float64)
)
ENGINE = {replicated}MergeTree
ORDER BY (project_id, is_own, is_op, op_name, hour, version)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Hours from before have no usage, so they are built again.
TRUNCATE TABLE built_hours{on_cluster};
