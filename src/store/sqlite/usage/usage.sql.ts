/** Statements for usage over trees of calls, and for the failures in them. */

import { idText, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'
import { REPORT_ROW } from './nested-usage.sql.ts'

/** The traces of calls (calls_project_key_id). */
export const SELECT_TRACES_OF_CALLS = `
SELECT DISTINCT ${idText('calls.trace_id')} AS trace_id
FROM calls INDEXED BY calls_project_key_id
WHERE project_key = ${PROJECT_KEY}
  AND id IN (SELECT ${packedId('value')} FROM json_each(@call_ids))
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`

/**
 * The calls of a trace behind a key, up to a limit, in order, each with a row for each model of its usage
 * (calls_project_key_trace_id, which has the keys in order, then primary keys).
 */
export const SELECT_TRACE_CALLS = `
SELECT
  page.call_key,
  ${['id', 'parent_id'].map((name) => idText(`page.${name}`)).join(',\n  ')},
  page.started_at_us,
  page.ended_at_us,
  page.exception,
  iif(call_requests.is_shared, NULL, call_requests.identity),
  ${REPORT_ROW}
FROM (
  SELECT
    call_key,
    id,
    parent_id,
    started_at_us,
    ended_at_us,
    exception
  FROM calls INDEXED BY calls_project_key_trace_id
  WHERE project_key = ${PROJECT_KEY}
    AND trace_id = ${packedId('@trace_id')}
    AND call_key > @after_key
    AND started_at_us IS NOT NULL
    AND deleted_at_us IS NULL
  ORDER BY call_key
  LIMIT @limit
) AS page
LEFT JOIN call_requests ON call_requests.call_key = page.call_key
LEFT JOIN call_usage ON call_usage.call_key = page.call_key
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
