/** Statements for usage over trees of calls, and for the failures in them. */
import { idText, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'

/** The traces of calls (calls_project_key_id). */
export const SELECT_TRACES_OF_CALLS = `
SELECT DISTINCT ${idText('calls.trace_id')} AS trace_id
FROM calls INDEXED BY calls_project_key_id
WHERE project_key = ${PROJECT_KEY}
  AND id IN (SELECT ${packedId('value')} FROM json_each(@call_ids))
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`

const TREE_CALL = `
    calls.call_key,
    calls.trace_id,
    calls.id,
    calls.parent_id,
    calls.started_at_us,
    calls.exception IS NOT NULL AS is_failed`.trimStart()

/** The failed calls of traces and all calls above them in their traces (calls_failed, then calls_project_key_id). */
export const SELECT_FAILED_BRANCHES = `
WITH RECURSIVE branches AS (
  SELECT
    ${TREE_CALL}
  FROM json_each(@trace_ids) AS wanted
  CROSS JOIN calls INDEXED BY calls_failed ON calls.project_key = ${PROJECT_KEY}
    AND calls.trace_id = ${packedId('wanted.value')}
  WHERE calls.exception IS NOT NULL
    AND calls.started_at_us IS NOT NULL
    AND calls.deleted_at_us IS NULL
  UNION
  SELECT
    ${TREE_CALL}
  FROM branches
  CROSS JOIN calls INDEXED BY calls_project_key_id ON calls.project_key = ${PROJECT_KEY}
    AND calls.id = branches.parent_id
  WHERE calls.trace_id = branches.trace_id
    AND calls.started_at_us IS NOT NULL
    AND calls.deleted_at_us IS NULL
)
SELECT
  ${['trace_id', 'id', 'parent_id'].map((name) => `${idText(name)} AS ${name}`).join(',\n  ')},
  started_at_us,
  is_failed
FROM branches
LIMIT @limit
`
