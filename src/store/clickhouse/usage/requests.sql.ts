/** Statements for the calls that report one request; which of them counts is decided when it is read. */
import { REQUEST_CALLS_MAX } from '../../../domain/usage/request-identity.ts'
import { liveRows } from '../calls/calls.sql.ts'

/** Requests of a batch that have several calls, with these. */
export const SELECT_DOUBLES = `
SELECT
  request,
  groupUniqArray(${REQUEST_CALLS_MAX + 2})(id) AS ids
FROM call_requests
WHERE project_id = {project_id:String} AND request IN {requests:Array(String)}
GROUP BY request
HAVING length(ids) > 1
`

/** Whether any request of a project has several calls. */
export const HAS_DOUBLES = `
SELECT 1 AS found
FROM call_doubles
WHERE project_id = {project_id:String}
LIMIT 1
`

/** The ids of calls whose request may have several. */
export const ALL_DOUBLES = 'SELECT id FROM call_doubles WHERE project_id = {project_id:String}'

/** The same of the requests of some calls. */
const DOUBLES_OF_IDS = `
SELECT id
FROM call_doubles
WHERE project_id = {project_id:String}
  AND request IN (
    SELECT request
    FROM call_doubles
    WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
  )`.trim()

/** The reports of these calls; rows of the same call are one. */
function membersOf(ids: string): string {
  return `
  SELECT
    id,
    parent_id,
    started_at_us,
    request_key,
    request_signature AS signature,
    linked_id
  FROM calls
  WHERE ${liveRows([])}
    AND has_end = 1
    AND request_signature != ''
    AND id IN (${ids})
    AND started_at_us IN (
      SELECT started_at_us
      FROM call_ids
      WHERE project_id = {project_id:String} AND id IN (${ids})
    )
  LIMIT 1 BY id`.slice(1)
}

/** With the identity of their requests: that of the call that one names, if it is one, otherwise its own. */
function identifiedOf(ids: string): string {
  return `
  SELECT
    own.id AS id,
    own.parent_id AS parent_id,
    own.started_at_us AS started_at_us,
    if(
      other.id != '' AND other.id != own.id AND other.signature = own.signature
        AND NOT (
          other.linked_id = own.id
          AND (own.started_at_us, own.id) < (other.started_at_us, other.id)
        ),
      if(other.request_key != '', other.request_key, concat('call ', other.id, ' ', other.signature)),
      if(own.request_key != '', own.request_key, concat('call ', own.id, ' ', own.signature))
    ) AS identity
  FROM (${membersOf(ids)}) AS own
  LEFT JOIN (${membersOf(ids)}) AS other ON other.id = own.linked_id`.slice(1)
}

/** Calls that have children with tokens, of another request, which are not their parents. */
function withReportsBelow(ids: string): string {
  return `
  SELECT child.parent
  FROM (
    SELECT
      id,
      started_at_us,
      assumeNotNull(parent_id) AS parent
    FROM calls
    WHERE ${liveRows([])}
      AND has_end = 1
      AND arraySum(usage.input_tokens) + arraySum(usage.output_tokens) > 0
      AND parent_id IN (${ids})
      AND parent_id != id
  ) AS child
  INNER JOIN (${identifiedOf(ids)}) AS above ON above.id = child.parent
  LEFT JOIN (${identifiedOf(ids)}) AS same ON same.id = child.id
  WHERE same.identity != above.identity
    AND NOT (
      ifNull(above.parent_id = child.id, 0)
      AND (child.started_at_us, child.id) < (above.started_at_us, above.id)
    )`.slice(1)
}

/**
 * The calls of requests that have several: `id`, `parent_id`, the `identity` of the request, and in `counting` the call
 * that counts, by the order of findCounting.
 */
function requestsOf(ids: string): string {
  return `
SELECT
  tupleElement(member, 3) AS id,
  tupleElement(member, 4) AS parent_id,
  identity,
  tupleElement(ranked[1], 3) AS counting
FROM (
  SELECT
    identity,
    groupArray((id, started_at_us, parent_id, is_above)) AS members,
    arraySort(arrayMap(
      one -> (
        if(has(arrayMap(other -> ifNull(other.3, ''), members), one.1), 2, 0) + one.4,
        one.2,
        one.1,
        ifNull(one.3, '')
      ),
      members
    )) AS ranked
  FROM (
    SELECT
      id,
      started_at_us,
      parent_id,
      identity,
      toUInt8(id IN (${withReportsBelow(ids)})) AS is_above
    FROM (${identifiedOf(ids)})
  )
  GROUP BY identity
  HAVING count() BETWEEN 2 AND ${REQUEST_CALLS_MAX}
)
ARRAY JOIN ranked AS member`
}

/** All calls of a project whose request has several. */
export const REQUESTS = requestsOf(ALL_DOUBLES).trim()

/** The calls at which the requests of some calls count, where these are others. */
export const SELECT_COUNTING = `
SELECT
  id,
  counting
FROM (${requestsOf(DOUBLES_OF_IDS)}
)
WHERE id != counting AND id IN {ids:Array(String)}
`
