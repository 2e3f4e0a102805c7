/**
 * Converts the parts of OTLP messages that both encodings share: attribute values, ids and times become plain JSON, hex
 * and big integers. Pure. Protobuf has bytes and 64-bit objects where JSON has strings.
 */
import { ApiError } from '../../errors.ts'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { toDouble } from '../json/json-text.ts'
import { type Attributes, type Span, SpanError, type SpanSource } from './span.ts'

/** How a request is written. */
export type OtlpEncoding = 'protobuf' | 'json'

/** A 64-bit integer as the protobuf library gives it. */
interface Long {
  readonly low: number
  readonly high: number
  readonly unsigned: boolean
}

/** A message as either encoding gives it: field names in lowerCamelCase, unknown ones are ignored. */
export type Message = Readonly<Record<string, unknown>>

/**
 * Limit: spans of one request, with their resources and scopes; 200 times what exporters send at once. An empty one takes
 * two bytes, and to read it takes microseconds.
 */
const SPANS_MAX = 100_000

/**
 * Counts spans, resources and scopes of a request while it is opened.
 *
 * @returns a function that adds to the count. @throws ApiError request_too_large
 */
export function createSpanCount(): (more: number) => void {
  let count = 0
  return (more) => {
    count += more
    if (count <= SPANS_MAX) return
    throw new ApiError('request_too_large', {
      message: `The request holds more than ${SPANS_MAX} spans, resources and scopes; send fewer at once.`,
    })
  }
}

/** Limit: levels of arrays and maps within one attribute. */
const DEPTH_MAX = JSON_DEPTH_MAX - 8
/** Limit: attributes of one span, event, link, scope or resource. */
const ATTRIBUTES_MAX = 10_000
/** Limit: events or links of one span. */
const EVENTS_MAX = 10_000
/** The names of the enums' values, each at its number. */
const SPAN_KINDS = [
  'SPAN_KIND_UNSPECIFIED',
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_SERVER',
  'SPAN_KIND_CLIENT',
  'SPAN_KIND_PRODUCER',
  'SPAN_KIND_CONSUMER',
] as const
const STATUS_CODES = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'] as const

/** The span of a message. @throws SpanError */
export function readSpan(message: Message, source: SpanSource): Span {
  const status = objectOf(message.status)
  return {
    ...source,
    trace_id: readId(message.traceId),
    span_id: readId(message.spanId),
    parent_span_id: readId(message.parentSpanId) || null,
    trace_state: textOf(message.traceState),
    name: textOf(message.name),
    kind: readEnum(message.kind, SPAN_KINDS),
    start_ns: readInteger(message.startTimeUnixNano),
    end_ns: readInteger(message.endTimeUnixNano),
    attributes: readAttributes(message.attributes),
    events: listOf(message.events, EVENTS_MAX).map((event) => ({
      name: textOf(event.name),
      time_unix_nano: String(readInteger(event.timeUnixNano)),
      attributes: readAttributes(event.attributes),
    })),
    links: listOf(message.links, EVENTS_MAX).map((link) => ({
      trace_id: readId(link.traceId),
      span_id: readId(link.spanId),
      attributes: readAttributes(link.attributes),
    })),
    status: { code: readEnum(status.code, STATUS_CODES), message: textOf(status.message) },
  }
}

/** A record of a log. */
export interface LogRecord {
  /** Empty where it belongs to no span. */
  readonly trace_id: string
  readonly span_id: string
  /** Empty where it is no event, or names itself in its attributes. */
  readonly event_name: string
  /** When it happened, else when it was observed. */
  readonly time_ns: bigint
  readonly attributes: Attributes
  readonly body: unknown
}

/** The record of a message. @throws SpanError */
export function readLogRecord(message: Message): LogRecord {
  const time_ns = readInteger(message.timeUnixNano)
  return {
    trace_id: readId(message.traceId),
    span_id: readId(message.spanId),
    event_name: textOf(message.eventName),
    time_ns: time_ns > 0n ? time_ns : readInteger(message.observedTimeUnixNano),
    attributes: readAttributes(message.attributes),
    body: readValue(objectOf(message.body), 0) ?? null,
  }
}

/** What the spans below a resource and a scope share. @throws SpanError */
export function readSource(resource: unknown, scope: unknown): SpanSource {
  const { name, version, attributes } = objectOf(scope)
  return {
    resource: readAttributes(objectOf(resource).attributes),
    scope: { name: textOf(name), version: textOf(version), attributes: readAttributes(attributes) },
  }
}

/** Key and value pairs as one object; of a key that comes twice the last one counts. @throws SpanError */
function readAttributes(pairs: unknown): Attributes {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const { key, value } of listOf(pairs, ATTRIBUTES_MAX)) {
    if (typeof key !== 'string') throw new SpanError('an attribute has no key')
    attributes[key] = readValue(objectOf(value), 0)
  }
  return attributes
}

/** Only the member that was sent counts: the protobuf library reads the others as their defaults. */
function readValue(value: Message, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new SpanError(`an attribute nests deeper than ${DEPTH_MAX} levels`)
  const kind = Object.keys(value).find((name) => Object.hasOwn(READERS, name))
  return kind === undefined ? null : READERS[kind]?.(value[kind], depth)
}

const READERS: Readonly<Record<string, (value: unknown, depth: number) => unknown>> = {
  stringValue: textOf,
  boolValue: (value) => value === true,
  intValue: (value) => exactNumber(readInteger(value)),
  doubleValue: readDouble,
  bytesValue: readBytes,
  arrayValue: (value, depth) =>
    listOf(objectOf(value).values, ATTRIBUTES_MAX).map((item) => readValue(item, depth + 1)),
  kvlistValue(value, depth) {
    const map: Record<string, unknown> = Object.create(null)
    for (const pair of listOf(objectOf(value).values, ATTRIBUTES_MAX)) {
      map[textOf(pair.key)] = readValue(objectOf(pair.value), depth + 1)
    }
    return map
  },
}

/** Returns a number if a double represents it exactly, else its digits as text. */
function exactNumber(integer: bigint): unknown {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(integer))
}

/** JSON has no NaN and no infinities: they are kept as texts, which is how OTLP spells them. */
function readDouble(value: unknown): unknown {
  const given = toDouble(value)
  const number = typeof given === 'object' && given !== null ? Number.NaN : Number(given)
  return Number.isFinite(number) ? number : String(number)
}

function readBytes(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : textOf(value)
}

/** Base64 of 16 or 8 bytes; no hex ends so. */
const BASE64_ID = /^(?:[\w+/-]{22}==|[\w+/-]{11}=)$/

/**
 * An id as hex: bytes in protobuf, hex of any case in JSON, or base64 as protobuf's own mapping to JSON has it. Empty
 * when absent, as an id of zeros alone is by OpenTelemetry's specification.
 */
function readId(value: unknown): string {
  const id = hexOf(value)
  return /^0*$/.test(id) ? '' : id
}

/** An absent field of protobuf is an empty list. */
function hexOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return ''
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  const text = textOf(value)
  return BASE64_ID.test(text) ? Buffer.from(text, 'base64').toString('hex') : text.toLowerCase()
}

/** @throws SpanError when the value is not a 64-bit integer */
function readInteger(value: unknown): bigint {
  if (value === undefined || value === null) return 0n
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
  if (JSON.isRawJSON(value)) return readInteger(String((value as { rawJSON: string }).rawJSON))
  if (isLong(value)) {
    const high = value.unsigned ? value.high >>> 0 : value.high | 0
    return (BigInt(high) << 32n) | BigInt(value.low >>> 0)
  }
  throw new SpanError('an integer cannot be read')
}

/**
 * The number of an enum's value; 0 when absent.
 *
 * Spec: none, an addition. Choice: JSON may have the name instead, as protobuf's mapping allows, although OTLP asks for
 * numbers. Numbers that have no name are kept, since a later version of OTLP may name them.
 *
 * @throws SpanError for a name that is not known, and for what is neither
 */
function readEnum(value: unknown, names: readonly string[]): number {
  const named = names.indexOf(value as string)
  return named === -1 ? Number(readInteger(value)) : named
}

function isLong(value: unknown): value is Long {
  return typeof value === 'object' && value !== null && 'low' in value && 'high' in value
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new SpanError('a text cannot be read')
  return value.isWellFormed() ? value : value.toWellFormed()
}

function objectOf(value: unknown): Message {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new SpanError('a message is not an object')
  return value as Message
}

/** The items of a repeated field. @throws SpanError for more than a number of them */
function listOf(value: unknown, max: number): Message[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new SpanError('a repeated field is not an array')
  if (value.length > max) throw new SpanError(`a repeated field has more than ${max} items`)
  return value.map(objectOf)
}
