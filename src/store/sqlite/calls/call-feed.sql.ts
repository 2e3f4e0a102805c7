/** Statements of the feed. */
import { idTexts, OP_NAME, PROJECT_ID } from './columns/id-columns.sql.ts'

/** By primary key, which is never given out again. */
export const FIND_LAST_KEY = `
SELECT coalesce(max(call_key), 0) AS position
FROM calls
`

/** The last of the next calls of all projects (by primary key). */
export const FIND_PART_END = `
SELECT max(call_key) AS position
FROM (
  SELECT call_key
  FROM calls
  WHERE call_key > @after
  ORDER BY call_key
  LIMIT @limit
)
`

/** Those of some projects (by primary key). */
export const SELECT_PART = `
SELECT
  call_key AS position,
  ${PROJECT_ID} AS project_id,
  ${idTexts(['id', 'trace_id', 'thread_id'])},
  ${OP_NAME} AS op_name
FROM calls
WHERE call_key > @after
  AND call_key <= @until
  AND +project_key IN (
    SELECT project_key
    FROM projects
    WHERE project_id IN (SELECT value FROM json_each(@project_ids))
  )
ORDER BY call_key
`
