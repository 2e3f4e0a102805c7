/** Statements for calls that were received as spans of OpenTelemetry. */
import { idText, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'

const IS_SPAN = '(call_bodies.otel_dump_json IS NOT NULL OR call_bodies.otel_dump_zstd IS NOT NULL)'

/** The keys of calls that are spans (primary keys). */
export const SELECT_SPANS = `
SELECT wanted.value AS call_key
FROM json_each(@keys) AS wanted
CROSS JOIN call_bodies ON call_bodies.call_key = wanted.value
WHERE ${IS_SPAN}
`

/** The traces of the spans of a conversation, one row per span (calls_project_key_thread_id). */
export const FIND_CONVERSATION_TRACES = `
SELECT
  ${idText('calls.trace_id')} AS trace_id,
  calls.started_at_us
FROM calls INDEXED BY calls_project_key_thread_id
CROSS JOIN call_bodies ON call_bodies.call_key = calls.call_key
WHERE calls.project_key = ${PROJECT_KEY}
  AND calls.thread_id = ${packedId('@conversation_id')}
  AND calls.started_at_us IS NOT NULL
  AND calls.deleted_at_us IS NULL
  AND ${IS_SPAN}
`
