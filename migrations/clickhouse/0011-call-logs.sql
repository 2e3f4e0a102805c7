-- Records of logs that are messages of spans, read with the calls of their spans. They may come before these.
CREATE TABLE IF NOT EXISTS call_logs{on_cluster} (
  project_id String,
  id String,
  trace_id String,
  event_hash String,
  position UInt64,
  received_at_us Int64,
  size_bytes UInt64,
  event_json String CODEC(ZSTD(1)),
  input_refs Array(String),
  output_refs Array(String),
  INDEX call_logs_received_at_us received_at_us TYPE minmax GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, id, trace_id, event_hash)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;
