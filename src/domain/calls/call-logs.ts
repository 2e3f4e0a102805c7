/** A record of a log that belongs to the span of a call. Pure type. */
export interface SpanLog {
  readonly project_id: string
  readonly trace_id: string
  /** Also the id of the call. */
  readonly span_id: string
  /** The record as an event of the span: JSON, by renderJson. */
  readonly event_json: string
}
