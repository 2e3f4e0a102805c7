/**
 * Reads OTLP trace requests in protobuf. Pure. A request is decoded in two steps, so that a large one can be read span
 * by span: first the frame, in which spans are bytes, then each span.
 */
import protobuf from 'protobufjs'
import { ApiError } from '../../errors.ts'
import {
  createSpanCount,
  type LogRecord,
  type Message,
  readLogRecord,
  readSource,
  readSpan,
} from './otlp-fields.ts'
import { type Span, SpanError, type SpanSource } from './span.ts'

/**
 * Field numbers of opentelemetry-proto 1. Requests of logs have the frame of those of traces; fields that Weft has no use for are left out, and skipped on the wire. Before
 * 0.15, scope_spans had its number under another name; from 0.15 to 0.19 senders could fill the field 1000 instead.
 */
const SCHEMA = `
  syntax = "proto3";
  message Frame { repeated ResourceFrame resource_spans = 1; }
  message ResourceFrame {
    Resource resource = 1; repeated ScopeFrame scope_spans = 2; repeated ScopeFrame library_spans = 1000;
  }
  message ScopeFrame { Scope scope = 1; repeated bytes spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
    string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message LogRecord {
    fixed64 time_unix_nano = 1; AnyValue body = 5; repeated KeyValue attributes = 6; bytes trace_id = 9;
    bytes span_id = 10; fixed64 observed_time_unix_nano = 11; string event_name = 12;
  }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; repeated KeyValue attributes = 4; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
      ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
    }
  }
  message TraceResponse { PartialSuccess partial_success = 1; }
  message PartialSuccess { int64 rejected = 1; string error_message = 2; }
  message RpcStatus { int32 code = 1; string message = 2; }
`

/** Numbers of the fields that lead to spans, from the request down. */
const PATH_TO_SPANS: readonly (readonly number[])[] = [[1], [2, 1000], [2]]
/** Of the wire format: the lower bits of a tag, and their value for a field with a length. */
const WIRE_TYPE_BITS = 3
const WITH_LENGTH = 2

const { root } = protobuf.parse(SCHEMA)
const TYPES = {
  Frame: root.lookupType('Frame'),
  Span: root.lookupType('Span'),
  LogRecord: root.lookupType('LogRecord'),
  TraceResponse: root.lookupType('TraceResponse'),
  RpcStatus: root.lookupType('RpcStatus'),
}

const MESSAGES = { Frame: 'an OTLP request', Span: 'a span', LogRecord: 'a record' } as const

/** Spans or records that share a source, each still encoded. */
interface ProtobufGroup {
  readonly source: SpanSource
  readonly spans: readonly Uint8Array[]
}

interface ScopeFrame {
  readonly scope?: Message
  readonly spans: readonly Uint8Array[]
}

interface Frame {
  readonly resourceSpans: readonly {
    readonly resource?: Message
    readonly scopeSpans: readonly ScopeFrame[]
    readonly librarySpans: readonly ScopeFrame[]
  }[]
}

/** Opens a request. @throws SpanError when the body is not such a message; ApiError request_too_large */
export function openProtobuf(bytes: Uint8Array): ProtobufGroup[] {
  requireFewSpans(bytes)
  const frame = decode('Frame', bytes) as unknown as Frame
  return frame.resourceSpans.flatMap(({ resource, scopeSpans, librarySpans }) => {
    // Senders that fill both publish the same spans twice.
    const frames = scopeSpans.length > 0 ? scopeSpans : librarySpans
    return frames.map(({ scope, spans }) => ({ source: readSource(resource, scope), spans }))
  })
}

/**
 * Counts the spans before the frame is decoded, which takes 200 bytes of heap for each.
 *
 * @throws SpanError, ApiError request_too_large
 */
function requireFewSpans(bytes: Uint8Array): void {
  const reader = protobuf.Reader.create(bytes)
  const addToCount = createSpanCount()
  function countIn(end: number, depth: number): void {
    while (reader.pos < end) {
      const tag = reader.uint32()
      const wireType = tag & (2 ** WIRE_TYPE_BITS - 1)
      const isOnPath = PATH_TO_SPANS[depth]?.includes(tag >>> WIRE_TYPE_BITS) ?? false
      if (!isOnPath || wireType !== WITH_LENGTH) {
        reader.skipType(wireType)
        continue
      }
      addToCount(1)
      const length = reader.uint32()
      const innerEnd = reader.pos + length
      if (depth + 1 < PATH_TO_SPANS.length) countIn(innerEnd, depth + 1)
      reader.pos = innerEnd
    }
  }
  try {
    countIn(bytes.length, 0)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new SpanError(`the bytes are not ${MESSAGES.Frame}`)
  }
}

/** Reads one span of a group. @throws SpanError */
export function readProtobufSpan(bytes: Uint8Array, source: SpanSource): Span {
  return readSpan(decode('Span', bytes), source)
}

/** Reads one record of a group of a request of logs. @throws SpanError */
export function readProtobufRecord(bytes: Uint8Array): LogRecord {
  return readLogRecord(decode('LogRecord', bytes))
}

function decode(name: 'Frame' | 'Span' | 'LogRecord', bytes: Uint8Array): Message {
  const type = TYPES[name]
  try {
    return type.decode(bytes) as unknown as Message
  } catch {
    throw new SpanError(`the bytes are not ${MESSAGES[name]}`)
  }
}

/** The answer to a trace request; `rejected` 0 with a message is a warning. */
export function encodeTraceResponse(
  partial: { rejected: number; message: string } | null,
): Uint8Array {
  const partialSuccess = partial && { rejected: partial.rejected, errorMessage: partial.message }
  const type = TYPES.TraceResponse
  return type.encode(type.create(partialSuccess ? { partialSuccess } : {})).finish()
}

/** The body of a refusal, a `google.rpc.Status`. */
export function encodeRpcStatus(code: number, message: string): Uint8Array {
  const type = TYPES.RpcStatus
  return type.encode(type.create({ code, message })).finish()
}
