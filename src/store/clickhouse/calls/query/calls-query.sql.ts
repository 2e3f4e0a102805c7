/** Statements of the lists of calls. */
import { type FilterCondition, startedRows } from '../calls.sql.ts'

/** When a list began, by ClickHouse's own clock, with which rows record when they are stored. 0: it begins now. */
const BEGUN_US = 'if({begun_us:Int64} = 0, toUnixTimestamp64Micro(now64(6)), {begun_us:Int64})'

/** Keys of calls in order of time after a call, of those that were stored before a list began. */
export function selectKeys(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  const isBehind = direction === 'asc' ? '>' : '<'
  return `
SELECT
  started_at_us,
  id,
  ${BEGUN_US} AS begun_us
${startedRows(conditions)}
  AND has_start = 1
  AND toUnixTimestamp64Micro(stored_at) <= begun_us
  AND (started_at_us, id) ${isBehind} ({after_us:Int64}, {after_id:String})
ORDER BY started_at_us ${direction}, id ${direction}
LIMIT {limit:UInt32}
`
}

/** The lowest or highest latencies with their calls; a call that two processes have stored has two. */
export function selectLatencies(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  return `
SELECT
  id,
  assumeNotNull(latency_ms) AS latency
${startedRows(conditions)}
  AND has_end = 1
  AND latency_ms IS NOT NULL
ORDER BY latency ${direction}
LIMIT {limit:UInt32}
`
}

/** Bytes of calls by their keys, with their records of logs. */
export const SELECT_SIZES = `
SELECT
  id,
  sum(size_bytes) AS bytes
FROM (
  SELECT
    id,
    size_bytes
  FROM calls
  WHERE project_id = {project_id:String}
    AND started_at_us IN {times:Array(Int64)}
    AND id IN {ids:Array(String)}
  UNION ALL
  SELECT
    id,
    size_bytes
  FROM call_logs
  WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
)
GROUP BY id
`

/** Number of calls, and their bytes. */
export function countCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  sum(has_start) AS count,
  sum(size_bytes) AS storage_size_bytes
${startedRows(conditions)}
`
}

/** The number and bytes of the first calls of a list, up to a limit. */
export function countSomeCalls(conditions: readonly FilterCondition[]): string {
  return `
SELECT
  count() AS count,
  sum(bytes) AS storage_size_bytes
FROM (
  SELECT sum(size_bytes) AS bytes
  ${startedRows(conditions)}
  GROUP BY started_at_us, id
  ORDER BY started_at_us, id
  LIMIT {limit:UInt64}
)
`
}
