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

/** Hashes of the records of spans, by id. */
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

const IN_WINDOW = 'received_at_us >= {from_us:Int64} AND received_at_us < {before_us:Int64}'

/** Spans with records received in the window that have rows in a table, by a condition. */
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
      WHERE ${IN_WINDOW}
    )
  )`
}

/** Records received in the window whose spans are not stored. */
const WAITING = `
FROM call_logs
WHERE ${IN_WINDOW}
  AND (project_id, id) NOT IN ${loggedSpansIn('call_ids')}`.trim()

/** Number of the spans of waiting records, and bytes of these. */
export const SUM_WAITING_LOGS = `
SELECT
  uniqExact(project_id, id, trace_id) AS spans,
  sum(size_bytes) AS bytes
${WAITING}
`

/** The next spans of waiting records, by project, without those that also have later records. */
export const LIST_WAITING_LOGS = `
SELECT DISTINCT
  project_id,
  id
${WAITING}
  AND (project_id, id) NOT IN ${loggedSpansIn('call_logs', 'received_at_us >= {before_us:Int64} AND ')}
ORDER BY project_id
LIMIT {limit:UInt32}
`
