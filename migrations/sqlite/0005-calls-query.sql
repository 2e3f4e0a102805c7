-- What the list routes of calls stand on: names given after the start, descendants, feedback of a call.

-- 1 when display_name was given by an update, which may come before the start and outlives it.
ALTER TABLE calls ADD COLUMN is_renamed INTEGER NOT NULL DEFAULT 0 CHECK (is_renamed IN (0, 1));

CREATE INDEX calls_project_id_parent_id ON calls (project_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX feedback_project_id_weave_ref_created_at_us
ON feedback (project_id, weave_ref, created_at_us);
