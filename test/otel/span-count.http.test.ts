import { describe, expect, it } from 'vitest'
import { openJson } from '../../src/domain/otel/otlp-json.ts'
import { openProtobuf } from '../../src/domain/otel/otlp-protobuf.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { emptySpans, frame } from './otel-fixtures.ts'

const MANY = 100_001
const EMPTY = frame(0x0a, Buffer.alloc(0))
const TOO_LARGE = expect.objectContaining({ code: 'request_too_large' })
const send = async (payload: Buffer | string, type: string) => {
  const { app, key } = await buildTestApp()
  return app.inject({
    method: 'POST',
    url: '/v1/traces',
    headers: { authorization: `Bearer ${key}`, 'content-type': type, project_id: 'acme/demo' },
    payload,
  })
}

describe('an export of more than 100,000 spans', () => {
  it('is refused as a whole in protobuf, with a status of RPC', async () => {
    const answer = await send(emptySpans(MANY), 'application/x-protobuf')
    expect(answer.statusCode).toBe(413)
    expect(answer.body).toContain('100000 spans, resources and scopes')
  })

  it('is refused as a whole in JSON, with a status of RPC', async () => {
    const spans = Array(MANY).fill({})
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    const answer = await send(body, 'application/json')
    expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
      413,
      expect.objectContaining({ code: 8, message: expect.stringContaining('100000 spans') }),
    ])
  })

  it('is refused for its count before a span is decoded', () => {
    expect(() => openProtobuf(emptySpans(MANY))).toThrow(TOO_LARGE)
  })
})

it('opens as many spans, resources and scopes as it may', () => {
  const [group] = openProtobuf(emptySpans(MANY - 3))
  expect(group?.spans).toHaveLength(MANY - 3)
})

it.each([
  ['resources', Buffer.concat(Array(MANY).fill(EMPTY))],
  ['scopes', frame(0x0a, Buffer.concat(Array(MANY).fill(frame(0x12, Buffer.alloc(0)))))],
  ['old scopes', frame(0x0a, Buffer.concat(Array(MANY).fill(Buffer.from([0xc2, 0x3e, 0]))))],
])('counts empty %s in protobuf, too', (_name, bytes) => {
  expect(() => openProtobuf(bytes)).toThrow(TOO_LARGE)
})

it.each([
  ['resources', { resourceSpans: Array(MANY).fill({}) }],
  ['scopes', { resourceSpans: [{ scopeSpans: Array(MANY).fill({}) }] }],
])('counts empty %s in JSON, too', (_name, request) => {
  expect(() => openJson(request, 'traces')).toThrow(TOO_LARGE)
})
