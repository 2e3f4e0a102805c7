/** Statements for the hours of statistics, their changes, their segments and the rows of their calls. */
import { OP_NAME, PROJECT_KEY } from '../../calls/columns/id-columns.sql.ts'
import { USAGE_ROW } from '../../usage/nested-usage.sql.ts'

/** Marks an hour as changed (stats_hours_project_id_hour). A rewrite invalidates its segments. */
export const MARK_HOUR = `
INSERT INTO stats_hours (project_id, hour, pending)
VALUES (@project_id, @hour, @entries)
ON CONFLICT (project_id, hour) DO UPDATE SET
  revision = revision + 1,
  generation = generation + @rewrites,
  built_revision = CASE WHEN @rewrites THEN NULL ELSE built_revision END,
  pending = pending + @entries
RETURNING hour_key, revision
`

/** Changes of a commit in an hour (primary key). */
export const INSERT_CHANGES = `
INSERT INTO stats_changes (hour_key, revision, entries_json)
VALUES (@hour_key, @revision, @entries_json)
`

const HOUR_STATE = `
SELECT
  hour_key,
  project_id,
  hour,
  revision,
  generation,
  built_revision,
  pieces,
  pending
FROM stats_hours
`.trim()

/** Hours of a window that hold calls (stats_hours_project_id_hour). */
export const SELECT_HOURS = `
${HOUR_STATE}
WHERE project_id = @project_id AND hour BETWEEN @from_hour AND @to_hour
ORDER BY hour
`

/** One hour (primary key). */
export const SELECT_HOUR = `
${HOUR_STATE}
WHERE hour_key = @hour_key
`

/** Changes of an hour after a revision, in order (primary key). */
export const SELECT_CHANGES = `
SELECT
  revision,
  entries_json
FROM stats_changes
WHERE hour_key = @hour_key AND revision > @after_revision
ORDER BY revision
`

/** Hours whose segments are incomplete (stats_hours_unbuilt). */
export const SELECT_UNBUILT_HOURS = `
SELECT
  hour_key,
  revision,
  pending
FROM stats_hours INDEXED BY stats_hours_unbuilt
WHERE built_revision IS NOT revision AND hour_key > @after_key
ORDER BY hour_key
LIMIT @limit
`

/** The heads of an hour's segments (primary key). */
export const SELECT_HEADS = `
SELECT
  segment_key,
  body
FROM stats_segments
WHERE segment_key BETWEEN @from_key AND @to_key
ORDER BY segment_key
`

/** One column of a segment (primary key). */
export const SELECT_COLUMN = `
SELECT body
FROM stats_columns
WHERE column_key = @column_key
`

export const PUT_COLUMN = `
INSERT INTO stats_columns (column_key, body)
VALUES (@column_key, @body)
ON CONFLICT (column_key) DO UPDATE SET body = excluded.body
`

export const PUT_HEAD = `
INSERT INTO stats_segments (segment_key, body)
VALUES (@segment_key, @body)
ON CONFLICT (segment_key) DO UPDATE SET body = excluded.body
`

/** Heads and columns of segments (primary keys). */
export const DELETE_HEADS = `
DELETE FROM stats_segments
WHERE segment_key BETWEEN @from_key AND @to_key
`
export const DELETE_COLUMNS = `
DELETE FROM stats_columns
WHERE column_key BETWEEN @from_key * 16 AND @to_key * 16 + 15
`

/** Records that the segments hold all changes up to a revision (primary key). */
export const SETTLE_HOUR = `
UPDATE stats_hours
SET built_revision = @to_revision,
  pieces = @pieces,
  pending = CASE WHEN revision = @to_revision THEN 0 ELSE max(0, pending - @entries) END
WHERE hour_key = @hour_key
`

/** Raises the generation when a segment was replaced by one without its removed calls (primary key). */
export const RAISE_GENERATION = `
UPDATE stats_hours
SET generation = generation + 1
WHERE hour_key = @hour_key
`

/** Deletes the changes that the segments hold (primary key). */
export const DELETE_CHANGES = `
DELETE FROM stats_changes
WHERE hour_key = @hour_key AND revision <= @to_revision
`

/** Invalidates the segments of an hour (primary key). */
export const INVALIDATE_HOUR = `
UPDATE stats_hours
SET built_revision = NULL,
  generation = generation + 1
WHERE hour_key = @hour_key
`

const HOUR_CALL = `
SELECT
  calls.call_key,
  calls.started_at_us,
  calls.ended_at_us,
  calls.exception IS NOT NULL AS is_error,
  calls.parent_id IS NULL OR calls.is_orphan AS is_root,
  ${OP_NAME} AS op_name,
  calls.svc_user_id,
  calls.svc_run_id,
  calls.end_user_id,
  ${USAGE_ROW}
`.trim()

/** A call that counts, one row for each model of its usage (primary keys). */
export const SELECT_HOUR_CALL = `
${HOUR_CALL}
FROM calls
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE calls.call_key = @call_key
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
`

/** The calls of an hour after a cursor, one row for each model of their usage (calls_project_key_started_at_us). */
export const SELECT_HOUR_CALLS = `
${HOUR_CALL}
FROM calls INDEXED BY calls_project_key_started_at_us
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.started_at_us >= @from_us
  AND calls.started_at_us < @to_us
  AND (calls.started_at_us > @from_us OR calls.call_key > @after_key)
  AND calls.deleted_at_us IS NULL
ORDER BY calls.started_at_us, calls.call_key
`
