/** Lookups of a batch in the tables other than `calls`. */
import { isIn } from './calls.sql.ts'

/**
 * Rows of other tables about the calls of a batch: ends that arrived before their start, orphans of the calls, and
 * when the parents that are stored began. One statement, since each takes a millisecond or more.
 */
export const SELECT_RELATED = `
SELECT
  'end' AS kind,
  id,
  '' AS parent_id,
  toInt64(0) AS started_at_us,
  end_hash,
  end_json
FROM call_early_ends
WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')}
UNION ALL
SELECT
  'orphan',
  id,
  parent_id,
  started_at_us,
  '',
  ''
FROM call_orphans FINAL
WHERE project_id = {project_id:String}
  AND is_adopted = 0
  AND ${isIn('parent_id', 'ids')}
  AND parent_id NOT IN (
    SELECT id
    FROM call_deletions
    WHERE project_id = {project_id:String} AND ${isIn('id', 'ids')}
  )
UNION ALL
SELECT DISTINCT
  'parent',
  id,
  '',
  started_at_us,
  '',
  ''
FROM call_ids
WHERE project_id = {project_id:String}
  AND ${isIn('id', 'parents')}
  AND id NOT IN (
    SELECT id
    FROM call_deletions
    WHERE project_id = {project_id:String} AND ${isIn('id', 'parents')}
  )
`
