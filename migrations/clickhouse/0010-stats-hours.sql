-- Changes of the calls of an hour, in hours since 1970: each write adds a random mark to `begun` before it writes, and the same
-- to `ended` after it. Where the sums are equal, nothing is being written.
CREATE TABLE IF NOT EXISTS hour_changes{on_cluster} (
  project_id String,
  hour Int64,
  begun SimpleAggregateFunction(sum, UInt64),
  ended SimpleAggregateFunction(sum, UInt64),
  changed_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')) DEFAULT now64(6)
)
ENGINE = {replicated}AggregatingMergeTree
ORDER BY (project_id, hour)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Built hours with their number of calls: a version is valid while `begun` is the sum of the changes of its hour.
CREATE TABLE IF NOT EXISTS built_hours{on_cluster} (
  project_id String,
  hour Int64,
  version UInt64,
  begun UInt64,
  calls UInt64
)
ENGINE = {replicated}ReplacingMergeTree(version)
ORDER BY (project_id, hour)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- The calls of an hour: of all ops (`is_op` 0, no name), and of each. Latencies are the distinct ones, ascending, each with how
-- many calls took at most so long.
CREATE TABLE IF NOT EXISTS hour_calls{on_cluster} (
  project_id String,
  is_op UInt8,
  op_name String,
  hour Int64,
  version UInt64,
  calls UInt64,
  errors UInt64,
  ended UInt64,
  latency_sum Int64,
  latency_min Int64,
  latency_max Int64,
  ones UInt64,
  zeros UInt64,
  latencies Array(Int64) CODEC(Delta, ZSTD(1)),
  up_to Array(UInt32) CODEC(Delta, ZSTD(1))
)
ENGINE = {replicated}MergeTree
ORDER BY (project_id, is_op, op_name, hour, version)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Processes that build hours: one of those seen lately does.
CREATE TABLE IF NOT EXISTS hour_builders{on_cluster} (
  builder String,
  seen_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = {replicated}ReplacingMergeTree(seen_at)
ORDER BY builder
TTL toDateTime(seen_at) + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 1000;

-- Hours from before. A second run only has them built again.
INSERT INTO hour_changes (project_id, hour, begun, ended, changed_at)
SELECT
  project_id,
  intDiv(started_at_us - positiveModulo(started_at_us, 3600000000), 3600000000) AS hour,
  1,
  1,
  now64(6)
FROM calls
GROUP BY project_id, hour;
