-- Projects whose calls may all be gone: they are listed all the same.
CREATE TABLE IF NOT EXISTS call_projects{on_cluster} (
  project_id String
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY project_id
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Ends whose start does not come leave by their own time.
ALTER TABLE call_early_ends{on_cluster}
  ADD COLUMN IF NOT EXISTS ended_at_us Int64 MATERIALIZED JSONExtractInt(end_json, 'ended_at_us');

-- When the call of a deletion began, set when its rows are freed: by that time the deletion leaves, too. Where no start
-- came, that of the deletion.
ALTER TABLE call_deletions{on_cluster}
  ADD COLUMN IF NOT EXISTS began_us Nullable(Int64);
