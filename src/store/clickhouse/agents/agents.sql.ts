/** Statements over calls that came as spans of OpenTelemetry. */
import {
  type BodyColumn,
  type FilterCondition,
  liveRows,
  selectedColumns,
  startedRows,
} from '../calls/calls.sql.ts'

/** The row of the start says whether a call is a span. */
const IS_SPAN = 'otel_dump_json IS NOT NULL'

/** The rows of spans in order of time; the end of a span may be a row of its own. */
export function selectSpans(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
  wanted: ReadonlySet<BodyColumn>,
): string {
  return `
SELECT
  ${selectedColumns(wanted)}
${startedRows(conditions)}
  AND (
    ${IS_SPAN}
    OR has_start = 0
    AND id IN (
      SELECT id
      ${startedRows([])}
        AND ${IS_SPAN}
        AND has_end = 0
    )
  )
ORDER BY started_at_us ${direction}, id ${direction}, stored_at
`
}

/** Start of the span at a position in order of time. */
export function selectCursorRow(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  return `
SELECT started_at_us
${startedRows(conditions)}
  AND ${IS_SPAN}
ORDER BY started_at_us ${direction}
LIMIT 1 OFFSET {offset:UInt64}
`
}

/** Number of spans, and of those that began before a time, or after it in descending order. */
export function countSpans(
  conditions: readonly FilterCondition[],
  direction: 'asc' | 'desc',
): string {
  return `
SELECT
  count() AS total,
  countIf(started_at_us ${direction === 'asc' ? '<' : '>'} {cursor_us:Int64}) AS passed
${startedRows(conditions)}
  AND ${IS_SPAN}
`
}

/** Traces that spans of a conversation belong to (the bloom filter of thread_id). */
export const SELECT_CONVERSATION_TRACES = `
SELECT
  trace_id,
  min(started_at_us) AS started_at_us
FROM calls
WHERE ${liveRows(['thread_ids'])}
  AND ${IS_SPAN}
GROUP BY trace_id
LIMIT {limit:UInt32}
`
