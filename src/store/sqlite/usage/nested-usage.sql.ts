/** Statements that store the sums of what a call's children report in addition to its own usage. */
import { USAGE_COUNTERS } from '../../../domain/usage/own-usage.ts'
import { insertRow } from '../../base/db/rows.sql.ts'
import { PROJECT_ID } from '../calls/columns/id-columns.sql.ts'

const nested = (counter: string) => `nested_${counter}`

/** Limit: sums stay integers that a double holds exactly. */
const SUM_MAX = Number.MAX_SAFE_INTEGER

const REPORT_COLUMNS = [
  'model',
  'provider',
  'upstream_model',
  'service_tier',
  'reports_cost',
  'tells_requests',
  ...USAGE_COUNTERS,
]

/** Inserts one model of a call's usage. Positional parameters. */
export const INSERT_CALL_USAGE = insertRow('call_usage', ['call_key', ...REPORT_COLUMNS])

/** Deletes the usage of a call (primary key of call_usage). */
export const DELETE_CALL_USAGE = `
DELETE FROM call_usage
WHERE call_key = @call_key
`

const ofUsage = (column: string) => `call_usage.${column}`

/** The columns of call_usage that readReport of usage-rows.ts reads. */
export const REPORT_ROW = REPORT_COLUMNS.map(ofUsage).join(',\n  ')

/** The columns that the others of usage-rows.ts read. */
export const USAGE_ROW = [...REPORT_COLUMNS, ...USAGE_COUNTERS.map(nested), 'repeats']
  .map(ofUsage)
  .join(',\n  ')

/** The usage of a call by model (primary key of call_usage). */
export const FIND_CALL_USAGE = `
SELECT
  ${USAGE_ROW}
FROM call_usage
WHERE call_key = @call_key
`

/** The same with what the children report of all models together. */
export const FIND_SUMMED_USAGE = `
SELECT
  ${USAGE_ROW},
  below_input_tokens,
  below_output_tokens
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

/** The columns by which the sums of a call are computed. */
const SUMMED_CALL = `
  calls.call_key,
  calls.project_key,
  ${PROJECT_ID} AS project_id,
  calls.id AS packed_id,
  calls.parent_id AS packed_parent_id,
  calls.started_at_us,
  iif(is_shared, NULL, identity) AS identity
FROM calls
LEFT JOIN call_requests ON call_requests.call_key = calls.call_key`.trimStart()

const IS_COUNTED = `
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
  AND EXISTS (SELECT 1 FROM call_usage WHERE call_usage.call_key = calls.call_key)`.trimStart()

/** A call that reports usage and counts (primary keys). */
export const FIND_SUMMED_CALL = `
SELECT
  ${SUMMED_CALL}
WHERE calls.call_key = @call_key
  ${IS_COUNTED}
`

/** The parent of a call, if it reports usage and counts (calls_project_key_id, then primary keys). */
export const FIND_SUMMED_PARENT = `
SELECT
  ${SUMMED_CALL}
WHERE calls.project_key = @project_key
  AND calls.id = @packed_parent_id
  AND calls.call_key <> @call_key
  ${IS_COUNTED}
`

/** Whether a call that names another as its parent is its child: of two that name each other the earlier one is none. */
const IS_CHILD = `(
    calls.id IS NOT @packed_parent_id
    OR (calls.started_at_us, calls.id) > (@started_at_us, @packed_id)
  )`

/**
 * The sums of children's reports by model (calls_project_key_parent_id, then primary keys and
 * call_requests_project_key_identity): of the children of one request the first by id. Not those of the call's own
 * request, and not its parent, if that is the earlier one of the two.
 */
export const SUM_CHILDREN_USAGE = `
SELECT
  model,
  ${USAGE_COUNTERS.map(sumOf).join(',\n  ')},
  CAST(min(total(input_tokens), ${SUM_MAX}) AS INTEGER) AS below_input_tokens,
  CAST(min(total(output_tokens), ${SUM_MAX}) AS INTEGER) AS below_output_tokens
FROM calls INDEXED BY calls_project_key_parent_id
CROSS JOIN call_usage ON call_usage.call_key = calls.call_key
LEFT JOIN call_requests AS requests ON requests.call_key = calls.call_key
  AND requests.is_shared = 0
WHERE calls.project_key = @project_key
  AND calls.parent_id = @packed_id
  AND calls.call_key <> @call_key
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
  AND ${IS_CHILD}
  AND (
    requests.identity IS NULL
    OR (
      requests.identity IS NOT @identity
      AND NOT EXISTS (
        SELECT 1
        FROM call_requests AS twins
        CROSS JOIN calls AS others ON others.call_key = twins.call_key
        WHERE twins.project_key = @project_key
          AND twins.identity = requests.identity
          AND others.parent_id = @packed_id
          AND others.id < calls.id
          AND ${IS_CHILD.replaceAll('calls.', 'others.')}
      )
    )
  )
GROUP BY model
`

/** Whether a parent has another child of the same request (call_requests_project_key_identity, then primary key). */
export const HAS_TWIN = `
SELECT EXISTS (
  SELECT 1
  FROM call_requests
  CROSS JOIN calls ON calls.call_key = call_requests.call_key
  WHERE call_requests.project_key = @project_key
    AND call_requests.identity = @identity
    AND call_requests.call_key <> @call_key
    AND calls.parent_id = @packed_parent_id
)
`

/** Stores the sums of the children of a call for one of its models (primary key of call_usage). */
export const SET_NESTED_USAGE = `
UPDATE call_usage
SET
  ${USAGE_COUNTERS.map((counter) => `${nested(counter)} = @${counter}`).join(',\n  ')},
  below_input_tokens = @below_input_tokens,
  below_output_tokens = @below_output_tokens,
  repeats = (repeats & ~@bit) | iif(@repeats, @bit, 0)
WHERE call_key = @call_key AND model = @model
`

/** Stores whether all usage of a call counts elsewhere, for one reason (primary key of call_usage). */
export const SET_REPEATS = `
UPDATE call_usage
SET repeats = (repeats & ~@bit) | iif(@repeats, @bit, 0)
WHERE call_key = @call_key
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

/** Calls with usage that are being deleted, and whether they are in a request (primary keys). */
export const SELECT_LEAVING_CALLS = `
SELECT
  calls.call_key,
  calls.project_key,
  calls.id AS packed_id,
  calls.parent_id AS packed_parent_id,
  identity,
  coalesce(is_shared, 0) AS is_shared
FROM json_each(@call_keys) AS gone
CROSS JOIN calls ON calls.call_key = gone.value
LEFT JOIN call_requests ON call_requests.call_key = calls.call_key
WHERE calls.started_at_us IS NOT NULL
  AND EXISTS (SELECT 1 FROM call_usage WHERE call_usage.call_key = calls.call_key)
`

function sumOf(counter: string): string {
  const value = counter === 'requests' ? 'iif(tells_requests, requests, 0)' : counter
  return `CAST(min(total(${value}), ${SUM_MAX}) AS INTEGER) AS ${counter}`
}
