/** Statements that store the sums of what a call's children report in addition to its own usage. */
import { USAGE_COUNTERS } from '../../../domain/usage/own-usage.ts'
import { insertRow } from '../../base/db/rows.sql.ts'
import { PROJECT_ID } from '../calls/columns/id-columns.sql.ts'

const nested = (counter: string) => `nested_${counter}`

/** Limit: sums stay integers that a double holds exactly. */
const SUM_MAX = Number.MAX_SAFE_INTEGER

const NESTED_COLUMNS = USAGE_COUNTERS.map(nested)

/** In the order of the parameters. */
const REPORT_COLUMNS = [
  'model',
  'provider',
  'upstream_model',
  'service_tier',
  'reports_cost',
  'tells_requests',
  ...USAGE_COUNTERS,
  ...NESTED_COLUMNS,
]

/** Inserts one model of a call's usage, with what its children report of it. Positional parameters. */
export const INSERT_CALL_USAGE = insertRow('call_usage', ['call_key', ...REPORT_COLUMNS])

/** Deletes the usage of a call (primary key of call_usage). */
export const DELETE_CALL_USAGE = `
DELETE FROM call_usage
WHERE call_key = @call_key
`

/** The columns that usage-rows.ts reads from call_usage. */
export const USAGE_ROW = REPORT_COLUMNS.map((column) => `call_usage.${column}`).join(',\n  ')

/** The usage of a call by model (primary key of call_usage). */
export const FIND_CALL_USAGE = `
SELECT
  ${USAGE_ROW}
FROM call_usage
WHERE call_key = @call_key
`

/** Whether a call has children (calls_project_key_parent_id). Takes 3 us; summing up no children takes 55. */
export const HAS_CHILDREN = `
SELECT EXISTS (
  SELECT 1
  FROM calls INDEXED BY calls_project_key_parent_id
  WHERE project_key = @project_key AND parent_id = @packed_id
)
`

/** The sums of children's reports by model (calls_project_key_parent_id, then the primary key of call_usage). */
export const SUM_CHILDREN_USAGE = `
SELECT
  model,
  ${USAGE_COUNTERS.map(sumOf).join(',\n  ')}
FROM calls INDEXED BY calls_project_key_parent_id
CROSS JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE calls.project_key = @project_key
  AND calls.parent_id = @packed_id
  AND calls.call_key <> @call_key
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
GROUP BY model
`

/**
 * Adds to, or subtracts from, the sums of a parent for a model. Does nothing when the parent is unknown or reports
 * nothing of the model (calls_project_key_id, then the primary key of call_usage).
 */
export const ADD_NESTED_USAGE = `
UPDATE call_usage
SET
  ${USAGE_COUNTERS.map(
    (counter) =>
      `${nested(counter)} = max(0, min(coalesce(${nested(counter)}, 0) + @${counter}, ${SUM_MAX}))`,
  ).join(',\n  ')}
WHERE call_key = (
    SELECT call_key
    FROM calls
    WHERE project_key = @project_key AND id = @packed_parent_id
  )
  AND call_key <> @call_key
  AND model = @model
RETURNING
  call_key,
  ${USAGE_ROW.replaceAll('call_usage.', '')}
`

/** The project and start of a call that statistics count (primary key). */
export const FIND_COUNTED_CALL = `
SELECT
  ${PROJECT_ID} AS project_id,
  started_at_us
FROM calls
WHERE call_key = @call_key
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`

/** Calls with usage that are being deleted while their parents stay (primary keys, then calls_project_key_id). */
export const SELECT_ORPHANING_CALLS = `
SELECT
  calls.call_key,
  calls.project_key,
  calls.parent_id AS packed_parent_id
FROM json_each(@call_keys) AS gone
CROSS JOIN calls ON calls.call_key = gone.value
CROSS JOIN calls AS parents ON parents.project_key = calls.project_key
  AND parents.id = calls.parent_id
WHERE parents.deleted_at_us IS NULL
  AND calls.started_at_us IS NOT NULL
  AND EXISTS (SELECT 1 FROM call_usage WHERE call_usage.call_key = calls.call_key)
`

function sumOf(counter: string): string {
  const value = counter === 'requests' ? 'iif(tells_requests, requests, 0)' : counter
  return `CAST(min(total(${value}), ${SUM_MAX}) AS INTEGER) AS ${counter}`
}
