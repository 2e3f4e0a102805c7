/** Statements that maintain which calls are orphans. */

/** Whether a call is stored and not deleted: 1 or 0 (calls_project_key_id). */
export const IS_LIVE = `
SELECT EXISTS (
  SELECT 1
  FROM calls INDEXED BY calls_project_key_id
  WHERE project_key = @project_key
    AND id = @packed_id
    AND started_at_us IS NOT NULL
    AND deleted_at_us IS NULL
)
`

/** Whether a call has orphans: 1 or 0 (calls_orphans). Takes less than an update of none. */
export const HAS_ORPHANS = `
SELECT EXISTS (
  SELECT 1
  FROM calls INDEXED BY calls_orphans
  WHERE project_key = @project_key AND parent_id = @packed_id AND is_orphan = 1
)
`

/** By primary key. */
export const MARK_ORPHAN = `
UPDATE calls
SET is_orphan = 1
WHERE call_key = @call_key
`

/** Ends that the children of a parent are orphans (calls_orphans). */
export const ADOPT_ORPHANS = `
UPDATE calls INDEXED BY calls_orphans
SET is_orphan = 0
WHERE project_key = @project_key
  AND parent_id = @packed_id
  AND is_orphan = 1
RETURNING call_key, started_at_us
`
