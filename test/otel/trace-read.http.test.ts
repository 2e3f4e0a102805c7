import { describe, expect, it } from 'vitest'
import type { CallTexts } from '../../src/domain/calls/call-view.ts'
import type { CallsQueryStore } from '../../src/store/api/calls/calls.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { buildSpan, spanId, TRACE, toJsonRequest } from './otel-fixtures.ts'

const HEADERS = { project_id: 'acme/demo' }
const N = { key: 'n', value: { intValue: '1' } }
const WHY = { key: 'why', value: { stringValue: 'retry' } }

describe('GET /otel/v1/traces/{trace_id}', () => {
  it('returns the spans of a trace unchanged, and calls of other clients as spans', async () => {
    const test = await buildTestApp()
    const span = buildSpan({
      attributes: { a: 1, b: [true], c: { d: 0.5 } },
      events: [{ name: 'told', time_unix_nano: '1700000000000002000', attributes: { n: 1 } }],
      links: [{ trace_id: TRACE, span_id: spanId(9), attributes: { why: 'retry' } }],
      trace_state: 'v=1',
      status: { code: 2, message: 'no' },
    })
    await test.post('/v1/traces', toJsonRequest([span]), { headers: HEADERS })
    await test.post('/call/start', {
      start: {
        project_id: 'acme/demo',
        id: 'mine',
        trace_id: TRACE,
        parent_id: spanId(1),
        op_name: 'op',
        started_at: '2023-11-14T22:13:21Z',
        attributes: {},
        inputs: { q: 1 },
      },
    })
    const { body } = await test.get(`/otel/v1/traces/${TRACE}?project_id=acme/demo`)
    const [first, second] = body.resourceSpans
    expect(first.scopeSpans[0].spans[0]).toMatchObject({
      traceId: TRACE,
      spanId: spanId(1),
      traceState: 'v=1',
      startTimeUnixNano: String(span.start_ns),
      attributes: [
        { key: 'a', value: { intValue: '1' } },
        { key: 'b', value: { arrayValue: { values: [{ boolValue: true }] } } },
        {
          key: 'c',
          value: { kvlistValue: { values: [{ key: 'd', value: { doubleValue: 0.5 } }] } },
        },
      ],
      events: [{ name: 'told', timeUnixNano: '1700000000000002000', attributes: [N] }],
      links: [{ traceId: TRACE, spanId: spanId(9), attributes: [WHY] }],
      status: { code: 2, message: 'no' },
    })
    expect(second.scopeSpans[0].spans[0]).toMatchObject({ name: 'op', parentSpanId: spanId(1) })
    const again = await buildTestApp()
    expect((await again.post('/v1/traces', body, { headers: HEADERS })).body).toEqual({})
    const { text } = await again.post('/calls/stream_query', { project_id: 'acme/demo' })
    expect(text.split('\n').filter(Boolean)).toHaveLength(2)
  })

  it('is 404 for an unknown trace', async () => {
    const test = await buildTestApp()
    const { status } = await test.get('/otel/v1/traces/nothing?project_id=acme/demo')
    expect(status).toBe(404)
  })

  it('refuses a trace that is too large to be held', async () => {
    const call = { inputs_json: 'x'.repeat(64 * 1024 * 1024 + 1) } as CallTexts
    const callsQuery: CallsQueryStore = {
      async *pages() {
        yield [{ call, totalStorageSizeBytes: null }]
      },
      count: async () => ({ count: 1, storage_size_bytes: 0 }),
    }
    const { get } = await buildTestApp({ drainTimeoutMs: 60 }, { callsQuery })
    const { status, body } = await get(`/otel/v1/traces/${TRACE}?project_id=acme/demo`)
    expect([status, body.error.param]).toEqual([422, 'trace_id'])
    expect(body.error.message).toMatch(/more than 67108864 characters; read it with/)
  })
})
