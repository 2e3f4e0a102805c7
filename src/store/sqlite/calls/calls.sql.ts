/** Statements for calls and their bodies, usage and refs. */
import { insertRow } from '../../base/db/rows.sql.ts'
import { COUNTED_IN } from '../usage/usage-requests.sql.ts'
import {
  BODY_NAMES,
  bodyText,
  END_BODIES,
  insertBodies,
  START_BODIES,
  updateBodies,
} from './bodies.sql.ts'
import { idText, idTexts, OP_NAME, PROJECT_KEY, packedId } from './columns/id-columns.sql.ts'

/** The columns that a start sets, in the order of the parameters. */
const START_COLUMNS = [
  'project_key',
  'id',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_key',
  'display_name',
  'started_at_us',
  'svc_user_id',
  'svc_username',
  'svc_run_id',
  'svc_run_step',
  'end_user_id',
  'is_orphan',
]

/**
 * Inserts a start with a new id; does nothing when the id is taken (calls_project_key_id). Positional parameters,
 * which bind faster: call-parameters.ts.
 */
export const INSERT_CALL_START = `${insertRow('calls', [
  ...START_COLUMNS,
  'storage_size_bytes',
])}ON CONFLICT (project_key, id) DO NOTHING
`

/** Adds the start to a call whose end or new name came first; by primary key. */
export const UPDATE_CALL_START = `
UPDATE calls
SET
  trace_id = @packed_trace_id,
  parent_id = @packed_parent_id,
  thread_id = @packed_thread_id,
  turn_id = @packed_turn_id,
  op_key = @op_key,
  display_name = CASE WHEN is_renamed THEN display_name ELSE @display_name END,
  started_at_us = @started_at_us,
  svc_user_id = @svc_user_id,
  svc_username = @svc_username,
  svc_run_id = @svc_run_id,
  svc_run_step = @svc_run_step,
  end_user_id = @end_user_id,
  is_orphan = @is_orphan,
  storage_size_bytes = storage_size_bytes + @start_size_bytes
WHERE call_key = @call_key
`

/** Inserts the bodies of a start with a new id. */
export const INSERT_START_BODIES = insertBodies(START_BODIES)

/** Adds the bodies of a start whose end came first; by primary key. */
export const UPDATE_START_BODIES = updateBodies(START_BODIES)

/** Inserts an end without a start; does nothing when the id is taken (calls_project_key_id). */
export const INSERT_CALL_END = `
INSERT INTO calls (
  project_key,
  id,
  ended_at_us,
  exception,
  svc_run_step_end,
  storage_size_bytes
)
VALUES (
  @project_key,
  @packed_id,
  @ended_at_us,
  @exception,
  @svc_run_step_end,
  @end_size_bytes
)
ON CONFLICT (project_key, id) DO NOTHING
`

/** Adds the end to a running call; by primary key. */
export const UPDATE_CALL_END = `
UPDATE calls
SET
  ended_at_us = @ended_at_us,
  exception = @exception,
  svc_run_step_end = @svc_run_step_end,
  storage_size_bytes = storage_size_bytes + @end_size_bytes
WHERE call_key = @call_key
`

/** Inserts the bodies of an end without a start. */
export const INSERT_END_BODIES = insertBodies(END_BODIES)

/** Adds the bodies of the end of a running call; by primary key. */
export const UPDATE_END_BODIES = updateBodies(END_BODIES)

/**
 * Inserts start and end of a call with a new id at once; does nothing when the id is taken (calls_project_key_id).
 * Positional parameters.
 */
export const INSERT_WHOLE_CALL = `${insertRow('calls', [
  ...START_COLUMNS,
  'ended_at_us',
  'exception',
  'svc_run_step_end',
  'storage_size_bytes',
])}ON CONFLICT (project_key, id) DO NOTHING
`

/** Inserts all bodies of such a call. */
export const INSERT_WHOLE_BODIES = insertBodies(BODY_NAMES)

/** Inserts the new name of a call without a start; does nothing when the id is taken (calls_project_key_id). */
export const INSERT_CALL_NAME = `
INSERT INTO calls (project_key, id, display_name, is_renamed)
VALUES (@project_key, @packed_id, @display_name, 1)
ON CONFLICT (project_key, id) DO NOTHING
`

/** Inserts the still empty row of bodies of a call that has only a name. */
export const INSERT_NO_BODIES = `
INSERT INTO call_bodies (call_key)
VALUES (@call_key)
`

/** Renames a call; by primary key. */
export const UPDATE_CALL_NAME = `
UPDATE calls
SET
  display_name = @display_name,
  is_renamed = 1
WHERE call_key = @call_key
`

/**
 * Marks calls and all their descendants as deleted, each once (calls_project_key_id, then
 * calls_project_key_parent_id). UNION stops at cycles of parents.
 */
export const DELETE_CALLS = `
WITH RECURSIVE doomed (call_key, id) AS (
  SELECT
    calls.call_key,
    calls.id
  FROM json_each(@ids) AS wanted
  CROSS JOIN calls ON calls.project_key = ${PROJECT_KEY}
    AND calls.id = ${packedId('wanted.value')}
  UNION
  SELECT
    calls.call_key,
    calls.id
  FROM doomed
  CROSS JOIN calls ON calls.project_key = ${PROJECT_KEY}
    AND calls.parent_id = doomed.id
)
UPDATE calls
SET deleted_at_us = @deleted_at_us
WHERE call_key IN (SELECT call_key FROM doomed) AND deleted_at_us IS NULL
RETURNING call_key, started_at_us, ${idText('id')} AS id
`

/** Inserts one ref of a call's inputs or output. Positional parameters. */
export const INSERT_CALL_REF = `
INSERT INTO call_refs (call_key, is_output, ref_key, path_key)
VALUES (?, ?, ?, ?)
`

/** One call with its bodies, started or not, deleted or not (calls_project_key_id). A freed call has no bodies. */
export const FIND_CALL = `
SELECT
  calls.call_key,
  @project_id AS project_id,
  ${idTexts(['id', 'trace_id', 'parent_id', 'thread_id', 'turn_id'])},
  ${OP_NAME} AS op_name,
  display_name,
  started_at_us,
  ended_at_us,
  exception,
  svc_user_id,
  svc_username,
  svc_run_id,
  svc_run_step,
  svc_run_step_end,
  end_user_id,
  is_orphan,
  storage_size_bytes,
  deleted_at_us,
  ${COUNTED_IN} AS usage_counted_in,
  ${BODY_NAMES.map(bodyText).join(',\n  ')}
FROM calls
LEFT JOIN call_bodies ON call_bodies.call_key = calls.call_key
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.id = ${packedId('@id')}
`

/** Bytes of a trace. Names its index: SQLite would walk all started calls of the project. */
export const SUM_TRACE_SIZE = `
SELECT coalesce(sum(storage_size_bytes), 0) AS bytes
FROM calls INDEXED BY calls_project_key_trace_id
WHERE project_key = ${PROJECT_KEY}
  AND trace_id = ${packedId('@trace_id')}
  AND deleted_at_us IS NULL AND started_at_us IS NOT NULL
`
