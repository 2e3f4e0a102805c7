-- Statements end with a semicolon at the end of a line. Each may be run again: a migration that was cut off begins anew.

-- When the calls of an id began: point reads go from here to the key of `calls`.
CREATE TABLE IF NOT EXISTS call_ids{on_cluster} (
  project_id String,
  id String,
  started_at_us Int64
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, id, started_at_us)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- A call is a row with both flags, or a row of its start and a row of its end. Each repeats what calls are filtered by.
CREATE TABLE IF NOT EXISTS calls{on_cluster} (
  project_id String,
  started_at_us Int64 CODEC(Delta, ZSTD(1)),
  id String,
  has_start UInt8,
  has_end UInt8,
  trace_id String,
  parent_id Nullable(String),
  thread_id Nullable(String),
  turn_id Nullable(String),
  op_name LowCardinality(String),
  display_name Nullable(String),
  svc_user_id String,
  svc_username String,
  svc_run_id Nullable(String),
  svc_run_step Nullable(Int64),
  ended_at_us Nullable(Int64),
  exception Nullable(String),
  svc_run_step_end Nullable(Int64),
  latency_ms Nullable(Int64),
  is_error UInt8,
  attributes_json Nullable(String) CODEC(ZSTD(1)),
  inputs_json Nullable(String) CODEC(ZSTD(1)),
  otel_dump_json Nullable(String) CODEC(ZSTD(1)),
  output_json Nullable(String) CODEC(ZSTD(1)),
  summary_json Nullable(String) CODEC(ZSTD(1)),
  input_refs Array(String),
  output_refs Array(String),
  usage Nested(
    model String,
    tells_requests UInt8,
    requests UInt64,
    input_tokens UInt64,
    uncached_input_tokens UInt64,
    output_tokens UInt64,
    total_tokens UInt64,
    cache_read_input_tokens UInt64,
    cache_creation_input_tokens UInt64
  ),
  size_bytes UInt64,
  start_hash String,
  end_hash String,
  stored_at DateTime64(6, 'UTC') DEFAULT now64(6),
  INDEX calls_trace_id trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX calls_parent_id parent_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX calls_thread_id thread_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree
PARTITION BY intDiv(started_at_us, 2629800000000)
ORDER BY (project_id, started_at_us, id, has_start, has_end)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Ends whose start had not come. The start takes them up; what is taken up stays here and is not looked at any more.
CREATE TABLE IF NOT EXISTS call_early_ends{on_cluster} (
  project_id String,
  id String,
  end_hash String,
  end_json String CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Names that calls were given after their start.
CREATE TABLE IF NOT EXISTS call_names{on_cluster} (
  project_id String,
  id String,
  display_name Nullable(String),
  version UInt64
)
ENGINE = {replicated}ReplacingMergeTree(version)
ORDER BY (project_id, id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Calls that were deleted, which every read leaves out.
CREATE TABLE IF NOT EXISTS call_deletions{on_cluster} (
  project_id String,
  id String,
  deleted_at_us Int64
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;
