/** Spans for tests: built by hand, or recorded from real libraries. */
import { readdirSync, readFileSync } from 'node:fs'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { Attributes, Span } from '../../src/domain/otel/span.ts'

export const TRACE = '0af7651916cd43dd8448eb211c80319c'

/** A span's id out of a small number. */
export function spanId(number: number): string {
  return number.toString(16).padStart(16, '0')
}

export function buildSpan(changes: Partial<Span> = {}): Span {
  return {
    trace_id: TRACE,
    span_id: spanId(1),
    parent_span_id: null,
    trace_state: '',
    name: 'step',
    kind: 1,
    start_ns: 1_700_000_000_000_001_000n,
    end_ns: 1_700_000_001_000_001_000n,
    attributes: {},
    events: [],
    links: [],
    status: { code: 0, message: '' },
    resource: { 'service.name': 'client' },
    scope: { name: 'test', version: '1', attributes: {} },
    ...changes,
  }
}

interface RecordedSpan {
  readonly name: string
  readonly attributes: Attributes
  readonly events: readonly [string, Attributes][]
}

const FOLDER = new URL('./fixtures/', import.meta.url)

/** What a library sent: the file's name without its ending to its spans. */
export function recordedSpans(library: string): Span[] {
  const spans = JSON.parse(readFileSync(new URL(`${library}.json`, FOLDER), 'utf8'))
  return spans.map(({ name, attributes, events }: RecordedSpan, index: number) =>
    buildSpan({
      span_id: spanId(index + 1),
      name,
      attributes,
      events: events.map(([event, values]) => ({
        name: event,
        time_unix_nano: '1700000000500000000',
        attributes: values,
      })),
    }),
  )
}

export const LIBRARIES = readdirSync(FOLDER).map((file) => file.replace('.json', ''))

type Json = Record<string, unknown>

function toValue(value: unknown): Json {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return { doubleValue: String(value) }
    return Number.isInteger(value) ? { intValue: value } : { doubleValue: value }
  }
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } }
  return { kvlistValue: { values: toPairs(value as Json) } }
}

function toPairs(attributes: Attributes): Json[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }))
}

/** Spans as an OTLP request in JSON, each below a resource of its own. */
export function toJsonRequest(spans: readonly Span[]) {
  return {
    resourceSpans: spans.map((span) => ({
      resource: { attributes: toPairs(span.resource) },
      scopeSpans: [
        {
          scope: { name: span.scope.name, version: span.scope.version },
          spans: [
            {
              traceId: span.trace_id,
              spanId: span.span_id,
              traceState: span.trace_state,
              ...(span.parent_span_id === null ? {} : { parentSpanId: span.parent_span_id }),
              name: span.name,
              kind: span.kind,
              startTimeUnixNano: String(span.start_ns),
              endTimeUnixNano: String(span.end_ns),
              attributes: toPairs(span.attributes),
              events: span.events.map((event) => ({
                name: event.name,
                timeUnixNano: event.time_unix_nano,
                attributes: toPairs(event.attributes),
              })),
              links: span.links.map((link) => ({
                traceId: link.trace_id,
                spanId: link.span_id,
                attributes: toPairs(link.attributes),
              })),
              status: span.status,
            },
          ],
        },
      ],
    })),
  }
}

function toHrTime(ns: bigint): [number, number] {
  return [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)]
}

/** The same in protobuf, by the encoder of OpenTelemetry's own SDK. */
export function toProtobufRequest(spans: readonly Span[]): Uint8Array {
  const readable = spans.map((span) => {
    const context = (id: string) => ({ traceId: span.trace_id, spanId: id, traceFlags: 1 })
    return {
      name: span.name,
      kind: span.kind - 1,
      spanContext: () => context(span.span_id),
      parentSpanContext: span.parent_span_id === null ? undefined : context(span.parent_span_id),
      startTime: toHrTime(span.start_ns),
      endTime: toHrTime(span.end_ns),
      status: span.status,
      attributes: span.attributes,
      links: span.links.map((link) => ({
        context: { traceId: link.trace_id, spanId: link.span_id, traceFlags: 1 },
        attributes: link.attributes,
      })),
      events: span.events.map((event) => ({
        name: event.name,
        time: toHrTime(BigInt(event.time_unix_nano)),
        attributes: event.attributes,
      })),
      resource: { attributes: span.resource },
      instrumentationScope: span.scope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  })
  // biome-ignore lint/suspicious/noExplicitAny: the encoder reads no more of a span than stands here.
  return ProtobufTraceSerializer.serializeRequest(readable as any) as Uint8Array
}

/** A field of protobuf with a length. @param tag - its number, shifted by 3, and 2 */
export function frame(tag: number, bytes: Buffer): Buffer {
  const lengthOf = (length: number): number[] =>
    length < 128 ? [length] : [(length % 128) + 128, ...lengthOf(Math.floor(length / 128))]
  return Buffer.concat([Buffer.from([tag, ...lengthOf(bytes.length)]), bytes])
}

/** A request with one scope of spans that have no bytes. */
export function emptySpans(count: number): Buffer {
  return frame(0x0a, frame(0x12, Buffer.alloc(2 * count).fill(Buffer.from([0x12, 0x00]))))
}
