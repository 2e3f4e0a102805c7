-- 1 when the parent of a call is not among the stored calls: such a call is the root of what there is.
ALTER TABLE calls ADD COLUMN is_orphan INTEGER NOT NULL DEFAULT 0 CHECK (is_orphan IN (0, 1));

UPDATE calls
SET is_orphan = 1
WHERE parent_id IS NOT NULL
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
  AND NOT EXISTS (
    SELECT 1
    FROM calls AS parents
    WHERE parents.project_key = calls.project_key
      AND parents.id = calls.parent_id
      AND parents.started_at_us IS NOT NULL
      AND parents.deleted_at_us IS NULL
  );

-- Calls whose parent may still arrive.
CREATE INDEX calls_orphans ON calls (project_key, parent_id) WHERE is_orphan = 1;

-- Segments of hours say which calls are roots.
UPDATE stats_hours
SET
  built_revision = NULL,
  generation = generation + 1;
