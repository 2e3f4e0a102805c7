/** Statements that remove calls from the disk. */
import { DELETE_COLUMNS, DELETE_HEADS } from '../../stats/segments/segments.sql.ts'
import { idText, PROJECT_ID, PROJECT_KEY } from '../columns/id-columns.sql.ts'

/** Deleted calls that are not freed yet (calls_unfreed). */
export const SELECT_UNFREED = `
SELECT call_key
FROM calls INDEXED BY calls_unfreed
WHERE deleted_at_us IS NOT NULL AND is_freed = 0
LIMIT @limit
`

/** Each by the prefix of its primary key. */
export const DELETE_BODIES = 'DELETE FROM call_bodies WHERE call_key = ?'
export const DELETE_USAGE = 'DELETE FROM call_usage WHERE call_key = ?'
export const DELETE_REQUEST = 'DELETE FROM call_requests WHERE call_key = ?'
export const DELETE_REFS = 'DELETE FROM call_refs WHERE call_key = ?'

/** Records of logs that joined a call, which hold its messages (primary keys). */
export const DELETE_LOGS = `
DELETE FROM call_logs
WHERE
  (project_id, span_id, trace_id) = (
    SELECT
      ${PROJECT_ID},
      ${idText('calls.id')},
      ${idText('calls.trace_id')}
    FROM calls
    WHERE call_key = ?
  )
`
export const DELETE_CALL = 'DELETE FROM calls WHERE call_key = ?'

/**
 * Frees a deleted call. Keeps what marks it as deleted, leads to its children, and determines when it expires (primary
 * key).
 */
export const FREE_CALL = `
UPDATE calls
SET
  is_freed = 1,
  thread_id = NULL,
  turn_id = NULL,
  display_name = NULL,
  exception = NULL,
  end_user_id = NULL,
  storage_size_bytes = 0
WHERE call_key = ?
`

/** The start of the oldest expired call of a project (calls_project_key_started_at_us). */
export const FIND_FIRST_START = `
SELECT started_at_us
FROM calls INDEXED BY calls_project_key_started_at_us
WHERE project_key = ${PROJECT_KEY}
  AND started_at_us < @before_us
ORDER BY started_at_us
LIMIT 1
`

/** Calls that began before the end of an hour (calls_project_key_started_at_us). */
export const SELECT_STARTED = `
SELECT call_key
FROM calls INDEXED BY calls_project_key_started_at_us
WHERE project_key = ${PROJECT_KEY}
  AND started_at_us < @to_us
ORDER BY started_at_us
LIMIT @limit
`

/** Expired ends without a start (calls_unstarted). */
export const SELECT_UNSTARTED = `
SELECT call_key
FROM calls INDEXED BY calls_unstarted
WHERE project_key = ${PROJECT_KEY}
  AND coalesce(ended_at_us, deleted_at_us) < @before_us
  AND started_at_us IS NULL
LIMIT @limit
`

/**
 * Invalidates the segments and changes of an hour, even those read before or written in the same commit: from now on
 * only the rows of its calls count (stats_hours_project_id_hour).
 */
export const LEAVE_HOUR = `
INSERT INTO stats_hours (project_id, hour, built_revision)
VALUES (@project_id, @hour, NULL)
ON CONFLICT (project_id, hour) DO UPDATE SET
  built_revision = NULL,
  revision = revision + 1,
  generation = generation + 1
`

/**
 * The first expired hour of statistics that is not empty (stats_hours_project_id_hour). The newest row stays until
 * there is a newer one, so that no key is reused.
 */
export const FIND_FIRST_HOUR = `
SELECT
  hour_key,
  hour,
  hour_key = (SELECT max(hour_key) FROM stats_hours) AS is_newest
FROM stats_hours
WHERE project_id = @project_id
  AND hour < @before_hour
  AND (
    hour_key < (SELECT max(hour_key) FROM stats_hours)
    OR built_revision IS NOT revision
    OR pieces > 0
  )
ORDER BY hour
LIMIT 1
`

/** Delete what is stored of an hour, one row at a time (primary keys). */
export const DELETE_HOUR_COLUMN = `${DELETE_COLUMNS}LIMIT 1`
export const DELETE_HOUR_HEAD = `${DELETE_HEADS}LIMIT 1`
export const DELETE_HOUR_CHANGE = `
DELETE FROM stats_changes
WHERE hour_key = @hour_key
LIMIT 1
`

/** By primary key. */
export const DELETE_HOUR = 'DELETE FROM stats_hours WHERE hour_key = @hour_key'

/** Marks an hour as built and empty (primary key). */
export const EMPTY_HOUR = `
UPDATE stats_hours
SET
  built_revision = revision,
  generation = generation + 1,
  pieces = 0,
  pending = 0
WHERE hour_key = @hour_key
`
