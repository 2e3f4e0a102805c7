/** An OpenTelemetry span, independent of the encoding. Pure types. */

/** Attributes by their full dotted key; values are JSON. */
export type Attributes = Readonly<Record<string, unknown>>

export interface SpanEvent {
  readonly name: string
  readonly time_unix_nano: string
  readonly attributes: Attributes
}

interface SpanLink {
  readonly trace_id: string
  readonly span_id: string
  readonly attributes: Attributes
}

/** What all spans of one library in one process share. */
export interface SpanSource {
  /** Attributes of the resource: the process that the spans come from. */
  readonly resource: Attributes
  readonly scope: {
    readonly name: string
    readonly version: string
    readonly attributes: Attributes
  }
}

/** Ids in lower case hex; times in nanoseconds since 1970. */
export interface Span extends SpanSource {
  readonly trace_id: string
  readonly span_id: string
  /** null for a root. */
  readonly parent_span_id: string | null
  readonly trace_state: string
  readonly name: string
  /** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly start_ns: bigint
  readonly end_ns: bigint
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  readonly links: readonly SpanLink[]
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string }
}

/** Stored times end before the year 2255, as those of calls that are sent. */
const TIME_US_END = BigInt(Date.UTC(2255, 0, 1)) * 1000n

/** A span that cannot be stored; the message names the rule that it breaks. */
export class SpanError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SpanError'
  }
}

/**
 * Refuses a span without what a call needs.
 *
 * @throws SpanError
 */
export function requireUsableSpan(span: Span): Span {
  if (!/^(?!0{32})[0-9a-f]{32}$/.test(span.trace_id))
    throw new SpanError('trace_id is not 16 bytes')
  if (!/^(?!0{16})[0-9a-f]{16}$/.test(span.span_id)) throw new SpanError('span_id is not 8 bytes')
  if (span.start_ns <= 0n) throw new SpanError('start_time_unix_nano is missing')
  if (span.start_ns / 1000n >= TIME_US_END || span.end_ns / 1000n >= TIME_US_END) {
    throw new SpanError('a time is after the year 2254')
  }
  return span
}
