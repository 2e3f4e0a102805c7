-- The threads that were heard of last are found without a look at the others. Calls that are no turns are not in it.
CREATE INDEX calls_project_key_last_updated
ON calls (project_key, ifnull(ended_at_us, started_at_us), thread_id)
WHERE turn_id = id AND thread_id IS NOT NULL AND started_at_us IS NOT NULL AND deleted_at_us IS NULL;
