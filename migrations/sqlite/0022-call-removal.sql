-- What deleted calls hold is freed later than they are deleted: 1 when nothing of the call is left but its narrow row.
ALTER TABLE calls ADD COLUMN is_freed INTEGER NOT NULL DEFAULT 0 CHECK (is_freed IN (0, 1));

-- Deleted calls that are still to be freed.
CREATE INDEX calls_unfreed ON calls (call_key) WHERE deleted_at_us IS NOT NULL AND is_freed = 0;

-- Ends whose start has not come, and deleted ones among them, by the only time that is known of them.
CREATE INDEX calls_unstarted ON calls (project_key, coalesce(ended_at_us, deleted_at_us))
WHERE started_at_us IS NULL;
