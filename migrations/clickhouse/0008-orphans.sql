-- Calls whose parent was not stored when they came: roots of what there is. `is_adopted` is 1 once the parent has come.
CREATE TABLE IF NOT EXISTS call_orphans{on_cluster} (
  project_id String,
  parent_id String,
  id String,
  started_at_us Int64,
  is_adopted UInt8
)
ENGINE = {replicated}ReplacingMergeTree(is_adopted)
ORDER BY (project_id, parent_id, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Those among the calls that were stored before.
INSERT INTO call_orphans (project_id, parent_id, id, started_at_us, is_adopted)
SELECT
  project_id,
  assumeNotNull(parent_id),
  id,
  started_at_us,
  0
FROM calls
WHERE has_start = 1
  AND parent_id IS NOT NULL
  AND (project_id, assumeNotNull(parent_id)) NOT IN (
    SELECT
      project_id,
      id
    FROM call_ids
  );
