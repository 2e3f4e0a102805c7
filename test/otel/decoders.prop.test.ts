import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OtlpEncoding } from '../../src/domain/otel/otlp-fields.ts'
import { ApiError } from '../../src/errors.ts'
import { readTraceRequest } from '../../src/otel/read-request.ts'
import { buildSpan, toJsonRequest, toProtobufRequest } from './otel-fixtures.ts'

function read(encoding: OtlpEncoding, bytes: Uint8Array) {
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

/** Refusals must be an ApiError; any other error would be a crash. */
function readOrRefuse(encoding: OtlpEncoding, bytes: Uint8Array): void {
  try {
    const { calls, rejected } = read(encoding, bytes)
    expect(calls.length + rejected).toBeGreaterThanOrEqual(0)
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).code).toBe('invalid_otlp')
  }
}

const spans = [
  buildSpan({
    attributes: { 'gen_ai.prompt': '[{"role":"user"}]', n: 5, deep: [['x']], 'a.0.b': 1.5 },
    events: [{ name: 'gen_ai.choice', time_unix_nano: '5', attributes: { index: 0 } }],
  }),
]
const protobuf = toProtobufRequest(spans)
const json = JSON.stringify(toJsonRequest(spans))

describe('the decoders of OTLP', () => {
  it('read or refuse any bytes as protobuf', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => readOrRefuse('protobuf', bytes)),
      {
        numRuns: 2000,
      },
    )
  })

  it('read or refuse a request of which some bytes were changed', () => {
    const changes = fc.array(fc.tuple(fc.nat(protobuf.length - 1), fc.nat(255)), { maxLength: 8 })
    fc.assert(
      fc.property(changes, (list) => {
        const bytes = Uint8Array.from(protobuf)
        for (const [at, byte] of list) bytes[at] = byte
        readOrRefuse('protobuf', bytes)
      }),
      { numRuns: 2000 },
    )
  })

  it('read or refuse any JSON', () => {
    const near = fc.object({
      key: fc.constantFrom(
        'resourceSpans',
        'scopeSpans',
        'spans',
        'attributes',
        'key',
        'value',
        'events',
      ),
      maxDepth: 6,
      values: [fc.string(), fc.integer(), fc.constant(null), fc.constant([]), fc.constant([{}])],
    })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near), (value) =>
        readOrRefuse('json', Buffer.from(JSON.stringify(value))),
      ),
      { numRuns: 2000 },
    )
  })

  it('read or refuse a JSON request that was cut or changed', () => {
    const change = fc.tuple(fc.nat(json.length - 1), fc.string({ minLength: 1, maxLength: 2 }))
    fc.assert(
      fc.property(change, fc.boolean(), ([at, text], isCut) => {
        const changed = isCut ? json.slice(0, at) : json.slice(0, at) + text + json.slice(at + 1)
        readOrRefuse('json', Buffer.from(changed))
      }),
      { numRuns: 1000 },
    )
  })

  it('a value that nests ten thousand levels is refused, not followed', () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    const request = toJsonRequest([buildSpan({ attributes: { 'gen_ai.input.messages': deep } })])
    expect(read('json', Buffer.from(JSON.stringify(request))).calls).toHaveLength(1)
    expect(() => read('json', Buffer.from(deep))).toThrow(/nests/)
  })
})
