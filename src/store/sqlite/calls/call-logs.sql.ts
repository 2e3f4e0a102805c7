/** Statements for records of logs that wait for the span of a call, or are joined to it; by primary key unless said. */

export const FIND_LOGS = `
SELECT
  ref_scheme,
  size_bytes,
  events_json,
  is_joined
FROM call_logs
WHERE project_id = @project_id AND span_id = @id AND trace_id = @trace_id
`

export const PUT_LOGS = `
INSERT OR REPLACE INTO call_logs (
  project_id,
  span_id,
  trace_id,
  received_at_us,
  is_joined,
  ref_scheme,
  size_bytes,
  events_json
)
VALUES (
  @project_id,
  @id,
  @trace_id,
  @received_at_us,
  @is_joined,
  @ref_scheme,
  @size_bytes,
  @events_json
)
`

export const MARK_JOINED = `
UPDATE call_logs
SET is_joined = 1
WHERE project_id = @project_id AND span_id = @id AND trace_id = @trace_id AND is_joined = 0
`

/** (call_logs_is_joined_received_at_us) */
export const DELETE_OLD_LOGS = `
DELETE FROM call_logs
WHERE is_joined = @is_joined AND received_at_us < @before_us
`

/** Deletes the oldest joined ones (call_logs_is_joined_received_at_us). */
export const DELETE_JOINED_LOGS = `
DELETE FROM call_logs
WHERE
  rowid IN (
    SELECT rowid
    FROM call_logs
    WHERE is_joined = 1
    ORDER BY received_at_us
    LIMIT @limit
  )
`

/** (call_logs_is_joined_received_at_us) */
export const SUM_LOGS = `
SELECT
  count(*) AS spans,
  coalesce(sum(size_bytes), 0) AS bytes
FROM call_logs
`

/** The size of a call's bodies grows. */
export const GROW_CALL = `
UPDATE calls
SET storage_size_bytes = storage_size_bytes + @grown_bytes
WHERE call_key = @call_key
`
