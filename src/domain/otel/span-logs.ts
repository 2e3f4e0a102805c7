/**
 * Records of logs that are messages of a span, and the call of a span with them. Pure. A record becomes an event of
 * its span, as the conventions before 1.37 had them.
 */
import type { SpanLog } from '../calls/call-logs.ts'
import type { CallTexts } from '../calls/call-view.ts'
import type { CallParts } from '../calls/new-call.ts'
import { isObject } from '../json/is-object.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { type FoundRef, findRefs, refsIn } from '../objects/refs.ts'
import { roleOfEvent } from './message-roles.ts'
import type { LogRecord } from './otlp-fields.ts'
import { type Attributes, type Span, SpanError, type SpanEvent } from './span.ts'
import { toSpanCall } from './span-call.ts'
import { parseText } from './span-reader.ts'

/** The event that has all messages of a model call. */
const DETAILS = 'gen_ai.client.inference.operation.details'

/** The record as an event of its span; null for one that is no message of a span. */
export function toSpanLog(record: LogRecord, project_id: string): SpanLog | null {
  const { trace_id, span_id, event_name, attributes, body, time_ns } = record
  const name = event_name || attributes['event.name']
  const isMessage = name === DETAILS || roleOfEvent(name) !== null
  if (!isMessage || trace_id === '' || span_id === '') return null
  const event = {
    name: name as string,
    time_unix_nano: String(time_ns),
    attributes: { ...attributes, ...fieldsOf(body) },
  }
  return { project_id, trace_id, span_id, event_json: renderJson(event) }
}

/** The body is a message as an object, as JSON of it, or its text alone. */
function fieldsOf(body: unknown): Attributes {
  const parsed = parseText(body)
  if (isObject(parsed)) return parsed
  return body === null || body === '' ? {} : { content: body }
}

/** What of a call depends on the events of its span. */
interface JoinedBodies {
  readonly inputs_json: string
  readonly otel_dump_json: string
  readonly input_refs: readonly FoundRef[]
  readonly output_json: string
  readonly output_refs: readonly FoundRef[]
}

/**
 * The contents of a span's call with further events; null where all of them are there, or where the dump is not that
 * of this span: clients may send anything as one.
 *
 * @param events_json - of SpanLog
 */
export function joinLogs(
  { id, trace_id, otel_dump_json }: { id: string; trace_id: string; otel_dump_json: string },
  events_json: readonly string[],
  ref_scheme: string,
): JoinedBodies | null {
  const span = readDump(parseLossless(otel_dump_json))
  if (span === null || span.span_id !== id || span.trace_id !== trace_id) return null
  const known = new Set(span.events.map(renderJson))
  const added = events_json.filter((json) => !known.has(json))
  if (added.length === 0) return null
  const events = [...span.events, ...added.map((json) => parseLossless(json) as SpanEvent)]
  events.sort((left, right) => compareTimes(left.time_unix_nano, right.time_unix_nano))
  const { start, end } = toSpanCall({ ...span, events }, '')
  const inputs_json = renderJson(start.inputs)
  const output_json = renderJson(end.output ?? null)
  return {
    inputs_json,
    otel_dump_json: renderJson(start.otel_dump),
    input_refs: refsIn(inputs_json, start.inputs, ref_scheme),
    output_json,
    output_refs: refsIn(output_json, end.output, ref_scheme),
  }
}

/** A stored call with the events that belong to its span, whose bodies are all read. */
export function joinStoredLogs(call: CallTexts, events_json: readonly string[]): CallTexts {
  const { id, trace_id, otel_dump_json, output_json } = call
  if (otel_dump_json === null) return call
  const joined = joinLogs({ id, trace_id, otel_dump_json }, events_json, NO_SCHEME)
  if (joined === null) return call
  // The dump may be that of the running span, which lacks what its end brought.
  const isOpen = isRunningDump(otel_dump_json)
  const keepsOutput = call.ended_at_us === null || (isOpen && (output_json ?? 'null') !== 'null')
  return {
    ...call,
    inputs_json: joined.inputs_json,
    otel_dump_json: joined.otel_dump_json,
    output_json: keepsOutput ? output_json : joined.output_json,
  }
}

/** No refs are read from the bodies. */
const NO_SCHEME = ''

function isRunningDump(otel_dump_json: string): boolean {
  const dump = parseLossless(otel_dump_json)
  return isObject(dump) && dump.end_time_unix_nano === '0'
}

/** The refs in what an event adds to the inputs and the output of its call. */
export function refsOfLog(
  event_json: string,
  ref_scheme: string,
): { readonly input_refs: string[]; readonly output_refs: string[] } {
  if (!event_json.includes(`${ref_scheme}:///`)) return { input_refs: [], output_refs: [] }
  const events = [parseLossless(event_json) as SpanEvent]
  const { start, end } = toSpanCall({ ...EMPTY_SPAN, events }, '')
  const refsOf = (value: unknown) => findRefs(value, ref_scheme).map(({ ref }) => ref)
  return { input_refs: refsOf(start.inputs), output_refs: refsOf(end.output) }
}

const EMPTY_SPAN: Span = {
  trace_id: '1'.repeat(32),
  span_id: '1'.repeat(16),
  parent_span_id: null,
  trace_state: '',
  name: '',
  kind: 0,
  start_ns: 1n,
  end_ns: 1n,
  attributes: {},
  events: [],
  links: [],
  status: { code: 0, message: '' },
  resource: {},
  scope: { name: '', version: '', attributes: {} },
}

/** Both parts of a call with other contents. */
export function withBodies({ start, end }: CallParts, bodies: JoinedBodies): CallParts {
  const { inputs_json, otel_dump_json, input_refs, output_json, output_refs } = bodies
  return {
    start: start && {
      ...start,
      inputs_json,
      otel_dump_json,
      input_refs,
      start_size_bytes:
        start.start_size_bytes +
        grown(start.inputs_json, inputs_json) +
        grown(start.otel_dump_json, otel_dump_json),
    },
    end: end && {
      ...end,
      output_json,
      output_refs,
      end_size_bytes: end.end_size_bytes + grown(end.output_json, output_json),
    },
  }
}

/** Bytes that a text has more than the one that it replaces. */
export function grown(old: string | null, text: string): number {
  return Buffer.byteLength(text) - Buffer.byteLength(old ?? '')
}

/** The span of a dump (span-call.ts), or null. */
function readDump(dump: unknown): Span | null {
  if (!isObject(dump)) return null
  const { start_time_unix_nano: start, end_time_unix_nano: end, ...rest } = dump
  const { attributes, events, resource, scope, name } = rest
  const isSpan =
    isDigits(start) &&
    isDigits(end) &&
    typeof name === 'string' &&
    [attributes, resource, scope, rest.status].every(isObject) &&
    typeof (scope as Record<string, unknown>).name === 'string' &&
    Array.isArray(events) &&
    events.every(
      (event) => isObject(event) && isObject(event.attributes) && isDigits(event.time_unix_nano),
    )
  return isSpan
    ? ({ ...rest, start_ns: BigInt(start), end_ns: BigInt(end) } as unknown as Span)
    : null
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value)
}

function compareTimes(left: string, right: string): number {
  const [one, other] = [BigInt(left), BigInt(right)]
  return one < other ? -1 : one > other ? 1 : 0
}

/** @throws SpanError for a record whose ids are none */
export function requireLogIds({ trace_id, span_id }: LogRecord): void {
  if (trace_id !== '' && !/^[0-9a-f]{32}$/.test(trace_id))
    throw new SpanError('trace_id is not 16 bytes')
  if (span_id !== '' && !/^[0-9a-f]{16}$/.test(span_id))
    throw new SpanError('span_id is not 8 bytes')
}
