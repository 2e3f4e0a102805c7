/** Statements of the feed. */

/** Microseconds of ClickHouse's own clock, which rows record when they are stored. */
export const READ_END = `
SELECT toUnixTimestamp64Micro(now64(6)) AS us
`

/** Rows with the ends of calls, in the order in which they were stored; all of the last time. */
export const SELECT_PART = `
SELECT
  toUnixTimestamp64Micro(stored_at) AS position,
  project_id,
  id,
  trace_id,
  thread_id,
  op_name
FROM calls
WHERE project_id IN {project_ids:Array(String)}
  AND has_end = 1
  AND stored_at > fromUnixTimestamp64Micro({after:Int64}, 'UTC')
  AND stored_at <= fromUnixTimestamp64Micro({until:Int64}, 'UTC')
ORDER BY stored_at
LIMIT {limit:UInt32} WITH TIES
`
