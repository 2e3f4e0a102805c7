/** Statements of the hours of statistics, their segments and the rows that both are made of. */

/** Marks an hour as changed (stats_hours_project_id_hour). */
export const MARK_HOUR = `
INSERT INTO stats_hours (project_id, hour)
VALUES (@project_id, @hour)
ON CONFLICT (project_id, hour) DO UPDATE SET
  revision = revision + 1,
  rewrites = rewrites + @rewrites,
  is_dirty = 1
`

/** Hours of a window that hold calls (stats_hours_project_id_hour). */
export const SELECT_HOURS = `
SELECT
  hour_key,
  hour,
  revision,
  rewrites,
  is_dirty
FROM stats_hours
WHERE project_id = @project_id AND hour BETWEEN @from_hour AND @to_hour
ORDER BY hour
`

/** The head of an hour's segment (primary key). */
export const SELECT_HEAD = `
SELECT body
FROM stats_segments
WHERE hour_key = @hour_key
`

/** One hour (primary key). */
export const SELECT_HOUR = `
SELECT
  hour_key,
  project_id,
  hour,
  revision
FROM stats_hours
WHERE hour_key = @hour_key
`

/** Hours without a segment of their state (stats_hours_dirty). */
export const SELECT_DIRTY_HOURS = `
SELECT
  hour_key,
  revision
FROM stats_hours INDEXED BY stats_hours_dirty
WHERE is_dirty = 1 AND hour_key > @after_key
ORDER BY hour_key
LIMIT @limit
`

/** One column of an hour (primary key). */
export const SELECT_COLUMN = `
SELECT body
FROM stats_columns
WHERE column_key = @column_key
`

/** Whether an hour is still in the state that its segment was built from (primary key). */
export const IS_HOUR_AT = `
SELECT 1
FROM stats_hours
WHERE hour_key = @hour_key AND revision = @revision AND is_dirty = 1
`

export const PUT_COLUMN = `
INSERT INTO stats_columns (column_key, body)
VALUES (@column_key, @body)
ON CONFLICT (column_key) DO UPDATE SET body = excluded.body
`

export const PUT_HEAD = `
INSERT INTO stats_segments (hour_key, body)
VALUES (@hour_key, @body)
ON CONFLICT (hour_key) DO UPDATE SET body = excluded.body
`

/** From here on the segment answers for the hour (primary key). */
export const CLEAN_HOUR = `
UPDATE stats_hours
SET is_dirty = 0
WHERE hour_key = @hour_key
`

/** The segment no longer answers for the hour (primary key). */
export const SPOIL_HOUR = `
UPDATE stats_hours
SET is_dirty = 1
WHERE hour_key = @hour_key
`

const HOUR_CALL = `
SELECT
  calls.call_key,
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception IS NOT NULL AS is_error,
  calls.parent_id IS NULL AS is_root,
  calls.op_name,
  calls.svc_user_id,
  calls.svc_run_id,
  call_usage.model,
  call_usage.input_tokens,
  call_usage.output_tokens,
  call_usage.total_tokens,
  call_usage.cache_read_input_tokens,
  call_usage.cache_creation_input_tokens,
  call_usage.uncached_input_tokens
`.trim()

const OF_HOUR = `
calls.project_id = @project_id
  AND calls.started_at_us >= @from_us
  AND calls.started_at_us < @to_us
  AND calls.deleted_at_us IS NULL
`.trim()

/** The calls of an hour, once for each model of their usage (calls_project_id_started_at_us). */
export const SELECT_HOUR_CALLS = `
${HOUR_CALL}
FROM calls INDEXED BY calls_project_id_started_at_us
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE ${OF_HOUR}
`

/** The same for calls whose rows came after others, along the rows (primary key). */
export const SELECT_NEW_HOUR_CALLS = `
${HOUR_CALL}
FROM calls NOT INDEXED
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE calls.call_key > @after_key AND ${OF_HOUR}
ORDER BY calls.call_key
`

/** Those of the named calls that have ended, once for each model of their usage (primary key). */
export const SELECT_ENDED_CALLS = `
${HOUR_CALL}
FROM json_each(@call_keys) AS wanted
CROSS JOIN calls ON calls.call_key = wanted.value
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE calls.ended_at_us IS NOT NULL
`

/** The last row of all (primary key). */
export const SELECT_LAST_CALL_KEY = `
SELECT coalesce(max(call_key), 0)
FROM calls
`
