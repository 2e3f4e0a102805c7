import { describe, expect, it } from 'vitest'
import type { OtlpEncoding } from '../../src/domain/otel/otlp-fields.ts'
import { readTraceRequest } from '../../src/otel/read-request.ts'
import { buildSpan, spanId, TRACE, toJsonRequest, toProtobufRequest } from './otel-fixtures.ts'

/** A span whose kind and status are sent as they are given. */
function sendAs(id: number, kind: unknown, code: unknown) {
  const { resourceSpans } = toJsonRequest([buildSpan({ span_id: spanId(id) })])
  const [span] = resourceSpans[0]!.scopeSpans[0]!.spans
  Object.assign(span as object, { kind, status: { code, message: 'boom' } })
  return resourceSpans
}

function readSpans(resourceSpans: unknown) {
  return readText(JSON.stringify({ resourceSpans }))
}

function readText(json: string) {
  return readBytes('json', Buffer.from(json))
}

function readBytes(encoding: OtlpEncoding, bytes: Uint8Array) {
  return readTraceRequest({
    encoding,
    bytes,
    project_id: 'acme/demo',
    default_project_id: null,
    refScheme: 'weave',
    svc_user_id: 'u',
    svc_username: 'U',
  })
}

it.each(['5', '1e400', '-0', '[]', 'null', '{"resourceSpans":[1e400]}'])(
  'refuses a request of something else: %s',
  (json) => {
    expect(() => readText(json)).toThrow('the request is not a JSON object of OTLP')
  },
)

it('reads doubles of any digits, and what is no number as NaN', () => {
  const doubles = ['-0.0', '0.12345678901234567890', '1e400', '1.5', '"-Infinity"', '{"valueOf":1}']
  const { resourceSpans } = toJsonRequest([buildSpan({})])
  const [span] = resourceSpans[0]!.scopeSpans[0]!.spans
  const attributes = doubles.map((text, at) => ({
    key: String(at),
    value: { doubleValue: text.startsWith('{') ? JSON.parse(text) : JSON.rawJSON(text) },
  }))
  Object.assign(span as object, { attributes })
  const { calls } = readSpans(resourceSpans)
  const { attributes: read } = JSON.parse(calls[0]?.start?.otel_dump_json ?? '{}')
  const expected = [0, 0.12345678901234568, 'Infinity', 1.5, '-Infinity', 'NaN']
  expect(Object.values(read)).toEqual(expected)
})

it('reads a kind and a status by number or name, and rejects a span with anything else', () => {
  const resourceSpans = [
    ...sendAs(1, 'SPAN_KIND_CLIENT', 'STATUS_CODE_ERROR'),
    ...sendAs(2, 'SPAN_KIND_INTERNAL', 'STATUS_CODE_OK'),
    ...sendAs(3, 'SPAN_KIND_UNSPECIFIED', 'STATUS_CODE_UNSET'),
    ...sendAs(4, 3, 2),
    ...sendAs(5, null, undefined),
    ...sendAs(6, 3, 'ERROR'),
    ...sendAs(7, 'CLIENT', 2),
    ...sendAs(8, 3, {}),
  ]
  const { calls, rejected, message } = readSpans(resourceSpans)
  expect([rejected, message]).toEqual([3, 'an integer cannot be read'])
  const read = calls.map(({ start, end }) => {
    const { kind, status } = JSON.parse(start?.otel_dump_json ?? '{}')
    return [start?.id, kind, status.code, end?.exception]
  })
  expect(read).toEqual([
    [spanId(1), 3, 2, 'boom'],
    [spanId(2), 1, 1, null],
    [spanId(3), 0, 0, null],
    [spanId(4), 3, 2, 'boom'],
    [spanId(5), 0, 0, null],
  ])
})

// OpenTelemetry's specification of span contexts: an id of zeros alone is invalid.
describe('an id of zeros alone is no id', () => {
  const link = { trace_id: '0'.repeat(32), span_id: spanId(0), attributes: {} }
  const span = buildSpan({ parent_span_id: spanId(0), links: [link] })
  const json = JSON.stringify(toJsonRequest([span]))
  it.each<[string, OtlpEncoding, Uint8Array]>([
    ['hex in JSON', 'json', Buffer.from(json)],
    ['base64 in JSON', 'json', Buffer.from(json.replaceAll(spanId(0), 'AAAAAAAAAAA='))],
    ['protobuf', 'protobuf', toProtobufRequest([span])],
  ])('%s: the span is a root, and its link names nothing', (_, encoding, bytes) => {
    const { calls, rejected } = readBytes(encoding, bytes)
    const start = calls[0]?.start
    expect([rejected, start?.parent_id]).toEqual([0, null])
    const { parent_span_id, links } = JSON.parse(start?.otel_dump_json ?? '{}')
    expect(parent_span_id).toBeNull()
    expect(links[0].span_id).toBe('')
  })

  it('a parent in upper case is the one in lower case', () => {
    const upper = json.replaceAll(
      `"parentSpanId":"${spanId(0)}"`,
      '"parentSpanId":"00000000000000AB"',
    )
    expect(readText(upper).calls[0]?.start?.parent_id).toBe(spanId(0xab))
  })
})

describe('a request whose members have other names', () => {
  const [resourceSpans] = toJsonRequest([
    buildSpan({ attributes: { 'a_b.c': { d_e: 'f_g' } } }),
  ]).resourceSpans
  const { resource, scopeSpans } = resourceSpans!
  const [{ scope, spans }] = scopeSpans as unknown as [{ scope: object; spans: object[] }]
  const expected = readSpans([resourceSpans]).calls

  // As opentelemetry-proto 0.9 to 0.19 named them (PyPI opentelemetry-proto 1.9.0 and 1.12.0).
  it('is read where the scope is an instrumentationLibrary', () => {
    const instrumentationLibrarySpans = [{ instrumentationLibrary: scope, spans }]
    for (const also of [{}, { scopeSpans: [] }, { scopeSpans: null }]) {
      const { calls, message } = readSpans([{ resource, instrumentationLibrarySpans, ...also }])
      expect([calls, message]).toEqual([expected, null])
    }
  })

  it('is read once where a sender fills the old and the new list', () => {
    const instrumentationLibrarySpans = [{ instrumentationLibrary: scope, spans }]
    const { calls } = readSpans([{ resource, scopeSpans, instrumentationLibrarySpans }])
    expect(calls).toEqual(expected)
  })

  it('is read in the names of the fields of protobuf, whole or below camel case', () => {
    const rename = (text: string) =>
      text.replace(/"(\w+)":/g, (_, name: string) =>
        JSON.stringify(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).concat(':'),
      )
    const snake = rename(JSON.stringify({ resourceSpans: [resourceSpans] }))
    expect(snake).toContain('"start_time_unix_nano"')
    expect(readText(snake).calls).toEqual(expected)
    const inner = JSON.parse(rename(JSON.stringify(spans)))
    expect(readSpans([{ resource, scopeSpans: [{ scope, spans: inner }] }]).calls).toEqual(expected)
  })

  it('is read with ids in base64, as the JSON mapping of protobuf has bytes', () => {
    const base64 = (id: string) => Buffer.from(id, 'hex').toString('base64')
    const parentSpanId = base64(spanId(9))
    const ids = { traceId: base64(TRACE), spanId: base64(spanId(1)), parentSpanId }
    expect([ids.traceId, ids.spanId]).toEqual(['CvdlGRbNQ92ESOshHIAxnA==', 'AAAAAAAAAAE='])
    const { calls } = readSpans([
      { resource, scopeSpans: [{ scope, spans: [{ ...spans[0], ...ids }] }] },
    ])
    expect(calls[0]?.start).toMatchObject({ id: spanId(1), trace_id: TRACE, parent_id: spanId(9) })
  })

  it.each([
    ['{"resourceLogs":[{}]}', 'resourceLogs'],
    ['{"spans":[{}]}', 'spans'],
    ['{"resourceSpans":[{"resource":{},"spans":[{}]}]}', 'spans'],
    ['{"resourceSpans":[{"scopeSpans":[{"span":[{}]}]}]}', 'span'],
  ])('%s stores nothing and says which member is not read', (json, name) => {
    const { count, rejected, message } = readText(json)
    expect([count, rejected]).toEqual([0, 0])
    expect(message).toBe(`"${name}" is not read; spans are in resourceSpans[].scopeSpans[].spans`)
  })

  it.each(['{}', '{"resourceSpans":[]}', '{"resourceSpans":[{"schemaUrl":"x","scopeSpans":[]}]}'])(
    'has no message where nothing was sent: %s',
    (json) => {
      expect(readText(json)).toMatchObject({ count: 0, message: null })
    },
  )

  it('ignores unknown members beside spans, as OTLP requires', () => {
    const sent = { resourceSpans: [{ ...resourceSpans, entityRefs: [] }], resourceLogs: [] }
    expect(readText(JSON.stringify(sent))).toMatchObject({ count: 1, message: null })
  })
})
