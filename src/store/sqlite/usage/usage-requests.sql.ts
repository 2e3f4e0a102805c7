/** Statements for the calls that report one request. */
import { idText } from '../calls/columns/id-columns.sql.ts'

/** The response of a call whose end came before its start (primary key). */
export const FIND_RESPONSE_KEY = `
SELECT response_key
FROM call_requests
WHERE call_key = @call_key
`

/** Whether more than one call, or a call that does not count, has an identity (call_requests_project_key_identity). */
export const IS_SHARED = `
SELECT is_shared
FROM call_requests
WHERE project_key = @project_key AND identity = @identity
LIMIT 1
`

/** Stores what identifies the request of a call (primary key). */
export const PUT_REQUEST = `
INSERT INTO call_requests (call_key, project_key, response_key, linked_id, identity, is_shared)
VALUES (@call_key, @project_key, @response_key, @linked_id, @identity, @is_shared)
ON CONFLICT (call_key) DO UPDATE SET
  response_key = excluded.response_key,
  linked_id = excluded.linked_id,
  identity = excluded.identity,
  is_shared = excluded.is_shared
`

/** Whether other calls name one as their request (call_requests_project_key_linked_id). */
export const IS_LINKED = `
SELECT EXISTS (
  SELECT 1
  FROM call_requests
  WHERE project_key = @project_key AND linked_id = @packed_id
)
`

const MEMBER = `
  calls.call_key,
  calls.project_key,
  ${idText('calls.id')} AS id,
  calls.id AS packed_id,
  ${idText('calls.parent_id')} AS parent_id,
  calls.parent_id AS packed_parent_id,
  calls.started_at_us,
  call_requests.response_key,
  call_requests.linked_id,
  call_requests.identity,
  call_requests.is_shared`.trimStart()

/** The calls that name one as their request, and count (call_requests_project_key_linked_id, then primary keys). */
export const SELECT_LINKING = `
SELECT
  ${MEMBER}
FROM call_requests
CROSS JOIN calls ON calls.call_key = call_requests.call_key
WHERE call_requests.project_key = @project_key
  AND call_requests.linked_id = @packed_id
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
LIMIT @limit
`

/** A call that another names as its request, if it counts (calls_project_key_id, then primary keys). */
export const FIND_LINKED = `
SELECT
  ${MEMBER}
FROM calls
LEFT JOIN call_requests ON call_requests.call_key = calls.call_key
WHERE calls.project_key = @project_key
  AND calls.id = @linked_id
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
`

/** The calls of a request, each of which reports one model (call_requests_project_key_identity, then primary keys). */
export const SELECT_MEMBERS = `
SELECT
  ${MEMBER},
  call_usage.repeats & 1 AS is_repeat,
  coalesce(below_input_tokens + below_output_tokens, 0) > 0 AS has_reports_below
FROM call_requests
CROSS JOIN calls ON calls.call_key = call_requests.call_key
CROSS JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE call_requests.project_key = @project_key
  AND call_requests.identity = @identity
LIMIT @limit
`

/** Marks an identity as that of too many calls, or not (primary key). */
export const SET_SHARED = `
UPDATE call_requests
SET is_shared = @is_shared
WHERE call_key = @call_key
`

/** The call at which the request of a row of calls counts, if that is another one; for a column of a statement. */
export const COUNTED_IN = `(
    SELECT ${idText('counting.id')}
    FROM call_requests AS own
    CROSS JOIN call_requests AS same ON same.project_key = own.project_key
      AND same.identity = own.identity
      AND same.call_key <> own.call_key
    CROSS JOIN call_usage ON call_usage.call_key = same.call_key
      AND call_usage.repeats & 1 = 0
    CROSS JOIN calls AS counting ON counting.call_key = same.call_key
    WHERE own.call_key = calls.call_key AND own.is_shared = 0
    LIMIT 1
  )`

/** The request of a call that counts, as a text (primary key). */
export const FIND_REQUEST = `
SELECT identity
FROM call_requests
WHERE call_key = @call_key AND is_shared = 0
`
