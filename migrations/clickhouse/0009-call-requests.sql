-- What identifies the request that a call reports: by the id of its response, and by what is equal in all its reports.
-- `linked_id` is the call that the client names as the same request. Empty: none.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS request_key String,
  ADD COLUMN IF NOT EXISTS request_signature String,
  ADD COLUMN IF NOT EXISTS linked_id String;

-- The calls of each request that may have several.
CREATE TABLE IF NOT EXISTS call_requests{on_cluster} (
  project_id String,
  request String,
  id String
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, request, id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;

-- Those of requests that do have several.
CREATE TABLE IF NOT EXISTS call_doubles{on_cluster} (
  project_id String,
  request String,
  id String
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY (project_id, request, id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1;
