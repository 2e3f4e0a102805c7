/** Statements over records of logs, which are rows beside the calls of their spans. */

/** Whether a call has a ref in a record; by parameters as hasRef of calls.sql.ts. */
export function loggedCallsWith(condition: string): string {
  return `
    SELECT
      id,
      trace_id
    FROM call_logs
    WHERE project_id = {project_id:String} AND ${condition}`.trim()
}

/** The records that spans of ids have. */
export const SELECT_EVENT_HASHES = `
SELECT
  id,
  trace_id,
  groupUniqArray(event_hash) AS hashes
FROM call_logs
WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
GROUP BY id, trace_id
`

/** The records of ids in the order in which they came. Two processes may have stored the same. */
export const SELECT_EVENTS = `
SELECT
  id,
  trace_id,
  event_json
FROM call_logs
WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
ORDER BY position
LIMIT 1 BY id, trace_id, event_hash
`

/** A row if a project has records at all. */
export const FIND_LOGGED_PROJECT = `
SELECT project_id
FROM call_logs
WHERE project_id = {project_id:String}
LIMIT 1
`

const OF_TIME = 'received_at_us >= {from_us:Int64} AND received_at_us < {before_us:Int64}'

/** Those of the spans with records of a time that a table has, by a condition. */
function loggedSpansIn(table: 'call_ids' | 'call_logs', condition = ''): string {
  return `(
    SELECT
      project_id,
      id
    FROM ${table}
    WHERE ${condition}(project_id, id) IN (
      SELECT
        project_id,
        id
      FROM call_logs
      WHERE ${OF_TIME}
    )
  )`
}

/** Records of a time whose spans have not come. */
const WAITING = `
FROM call_logs
WHERE ${OF_TIME}
  AND (project_id, id) NOT IN ${loggedSpansIn('call_ids')}`.trim()

/** Their spans and bytes. */
export const SUM_WAITING_LOGS = `
SELECT
  uniqExact(project_id, id, trace_id) AS spans,
  sum(size_bytes) AS bytes
${WAITING}
`

/** The next of them, by projects. A span waits for as long after its last record. */
export const LIST_WAITING_LOGS = `
SELECT DISTINCT
  project_id,
  id
${WAITING}
  AND (project_id, id) NOT IN ${loggedSpansIn('call_logs', 'received_at_us >= {before_us:Int64} AND ')}
ORDER BY project_id
LIMIT {limit:UInt32}
`
