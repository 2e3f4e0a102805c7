/** Records of logs that belong to the spans of calls, and how many wait for theirs. Pure. */
import type { CallIdentity } from './call-state.ts'

/** How long records wait for their span. */
export const LOG_WAIT_US = 3_600_000_000
/** Limit: spans with records, their bytes, and records of one span. */
export const LOG_SPANS_MAX = 100_000
export const LOG_BYTES_MAX = 256 * 1024 * 1024
export const LOGS_OF_SPAN_MAX = 1000

export interface SpanLog {
  readonly project_id: string
  readonly trace_id: string
  /** Also the id of the call. */
  readonly span_id: string
  /** The record as an event of the span: JSON, by renderJson. */
  readonly event_json: string
}

/** The call that a span becomes, in the trace of that span. */
export interface LoggedSpan extends CallIdentity {
  readonly trace_id: string
}

/** The events that records become, by their spans. */
export function bySpan(
  logs: readonly SpanLog[],
): { readonly key: LoggedSpan; readonly events: string[] }[] {
  const spans = Map.groupBy(logs, ({ project_id, trace_id, span_id }) =>
    [project_id, trace_id, span_id].join('/'),
  )
  return [...spans.values()].map((records) => {
    const { project_id, span_id: id, trace_id } = records[0] as SpanLog
    return { key: { project_id, id, trace_id }, events: records.map((log) => log.event_json) }
  })
}
