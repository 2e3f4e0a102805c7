import { expect, it } from 'vitest'
import { readTraceRequest } from '../../src/otel/read-request.ts'
import { buildSpan, spanId, toJsonRequest } from './otel-fixtures.ts'

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
  return readTraceRequest({
    encoding: 'json',
    bytes: Buffer.from(json),
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
