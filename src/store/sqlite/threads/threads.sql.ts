/** Statements for lists of threads. */
import { idText, PROJECT_KEY } from '../calls/columns/id-columns.sql.ts'

/** The columns of a call in a thread: `place` is its cursor, `is_turn` whether it counts. */
const TURN_COLUMNS = `
  calls.call_key,
  calls.thread_id AS place,
  ${idText('calls.thread_id')} AS thread_id,
  ${idText('calls.id')} AS id,
  calls.turn_id IS calls.id
    AND calls.deleted_at_us IS NULL
    AND calls.started_at_us IS NOT NULL AS is_turn,
  calls.started_at_us,
  calls.ended_at_us`.trimStart()

/** The next calls in threads after a call, thread by thread (calls_project_key_thread_id). */
export const SELECT_TURNS = `
SELECT
  ${TURN_COLUMNS}
FROM calls INDEXED BY calls_project_key_thread_id
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.thread_id IS NOT NULL
  AND (calls.thread_id, calls.call_key) > (@place, @call_key)
ORDER BY calls.thread_id, calls.call_key
LIMIT @limit
`

/** The next calls of one thread after a call (calls_project_key_thread_id). */
export const SELECT_TURNS_OF_THREAD = `
SELECT
  ${TURN_COLUMNS}
FROM calls INDEXED BY calls_project_key_thread_id
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.thread_id = @place
  AND calls.call_key > @call_key
ORDER BY calls.call_key
LIMIT @limit
`

const LAST_UPDATED = 'ifnull(calls.ended_at_us, calls.started_at_us)'

/** The next turns before one, the last updated first (calls_project_key_last_updated). */
export const SELECT_NEWEST_TURNS = `
SELECT
  calls.call_key,
  calls.thread_id AS place,
  ${LAST_UPDATED} AS last_updated
FROM calls INDEXED BY calls_project_key_last_updated
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.turn_id = calls.id
  AND calls.thread_id IS NOT NULL
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
  AND (${LAST_UPDATED}, calls.thread_id, calls.call_key) < (@last_updated, @place, @call_key)
ORDER BY ${LAST_UPDATED} DESC, calls.thread_id DESC, calls.call_key DESC
LIMIT @limit
`
