import protobuf from 'protobufjs'
import { describe, expect, it } from 'vitest'
import type { Span } from '../../src/domain/otel/span.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { buildSpan, spanId, TRACE, toJsonRequest, toProtobufRequest } from './otel-fixtures.ts'

const HEADERS = { project_id: 'acme/demo' }

/** Sends spans in protobuf. */
async function sendProtobuf(test: TestApp, payload: Uint8Array) {
  return test.app.inject({
    method: 'POST',
    url: '/v1/traces',
    headers: {
      authorization: `Bearer ${test.key}`,
      'content-type': 'application/x-protobuf',
      ...HEADERS,
    },
    payload: Buffer.from(payload),
  })
}

const sendJson = (
  test: TestApp,
  spans: readonly Span[],
  headers: Record<string, string> = HEADERS,
) => test.post('/v1/traces', toJsonRequest(spans), { headers })

async function listCalls(test: TestApp, project_id = 'acme/demo') {
  const { text } = await test.post('/calls/stream_query', { project_id })
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.usage.input_tokens': 1000,
  'gen_ai.usage.output_tokens': 100,
}

describe('POST /v1/traces', () => {
  it('stores the same calls from protobuf and from JSON', async () => {
    const spans = [
      buildSpan({ attributes: { ...CHAT, flag: true, ratio: 0.5, list: ['a', 'b'] } }),
      buildSpan({
        span_id: spanId(3),
        attributes: { map: { deep: { list: [1, 'x'] } }, bytes: Uint8Array.of(255, 0), odd: NaN },
        events: [{ name: 'told', time_unix_nano: '1700000000000002000', attributes: { n: 1 } }],
        links: [{ trace_id: TRACE, span_id: spanId(9), attributes: { why: 'retry' } }],
      }),
      buildSpan({
        span_id: spanId(2),
        parent_span_id: spanId(1),
        start_ns: 1_700_000_000_500_000_000n,
      }),
    ]
    const [one, two] = [await buildTestApp(), await buildTestApp()]
    const inProtobuf = await sendProtobuf(one, toProtobufRequest(spans))
    expect(inProtobuf.statusCode).toBe(200)
    expect(inProtobuf.headers['content-type']).toBe('application/x-protobuf')
    expect(inProtobuf.rawPayload).toHaveLength(0)
    const inJson = await sendJson(two, spans)
    expect(inJson).toMatchObject({ status: 200, body: {} })
    const calls = await listCalls(one)
    expect(calls).toHaveLength(3)
    expect(calls[2]).toMatchObject({ id: spanId(2), parent_id: spanId(1), trace_id: TRACE })
    expect(calls[1].attributes.otel_span).toMatchObject({
      attributes: { map: { deep: { list: [1, 'x'] } }, bytes: '/wA=', odd: 'NaN' },
      links: [{ trace_id: TRACE, span_id: spanId(9), attributes: { why: 'retry' } }],
    })
    expect(await listCalls(two)).toEqual(calls)
  })

  it('stores spans in the field of opentelemetry-proto 0.15 to 0.19 for instrumentation libraries', async () => {
    const { root } = protobuf.parse(`syntax = "proto3";
      message Request { repeated Resource list = 1; }
      message Resource { bytes resource = 1; repeated bytes scope_spans = 2; repeated bytes library_spans = 1000; }`)
    const type = root.lookupType('Request')
    const { list } = type.toObject(type.decode(toProtobufRequest([buildSpan()])))
    const send = async (fields: object) => {
      const app = await buildTestApp()
      await sendProtobuf(app, type.encode({ list: [{ ...list[0], ...fields }] }).finish())
      return listCalls(app)
    }
    const expected = await send({})
    expect(expected).toHaveLength(1)
    const librarySpans = list[0].scopeSpans
    expect(await send({ scopeSpans: [], librarySpans })).toEqual(expected)
    expect(await send({ librarySpans })).toEqual(expected)
  })

  it('answers a JSON request without spans that it knows with a warning that names the member', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/v1/traces', { resourceLogs: [{}] }, { headers: HEADERS })
    expect([status, body.partialSuccess.rejectedSpans]).toEqual([200, '0'])
    expect(body.partialSuccess.errorMessage).toContain('resourceLogs')
  })

  it('counts tokens and costs of spans in the statistics', async () => {
    const test = await buildTestApp()
    await sendJson(test, [buildSpan({ attributes: CHAT })])
    const { body } = await test.post('/calls/stats', {
      project_id: 'acme/demo',
      start: '2023-11-14T00:00:00Z',
      end: '2023-11-15T00:00:00Z',
      usage_metrics: [{ metric: 'total_tokens' }],
    })
    const [bucket] = body.usage_buckets.filter((each: { count: number }) => each.count > 0)
    expect(bucket).toMatchObject({ model: 'gpt-4o-mini', sum_total_tokens: 1100 })
  })

  it('a span without an end runs, counts in no latency, and ends when it comes with its end', async () => {
    const test = await buildTestApp()
    const latency = async () => {
      const { body } = await test.post('/calls/stats', {
        project_id: 'acme/demo',
        start: '2023-11-14T00:00:00Z',
        end: '2023-11-15T00:00:00Z',
        granularity: 86_400,
        call_metrics: [{ metric: 'latency_ms', aggregations: ['min', 'count'] }],
      })
      const [{ min_latency_ms, count_latency_ms, count }] = body.call_buckets
      return [min_latency_ms, count_latency_ms, count]
    }
    await sendProtobuf(test, toProtobufRequest([buildSpan({ end_ns: 0n })]))
    const [running] = await listCalls(test)
    expect(running).toMatchObject({ ended_at: null, summary: { weave: { status: 'running' } } })
    expect(await latency()).toEqual([null, 0, 1])
    expect((await sendJson(test, [buildSpan({ attributes: CHAT })])).body).toEqual({})
    const [ended] = await listCalls(test)
    expect(ended).toMatchObject({
      inputs: { model: 'gpt-4o-mini' },
      summary: { weave: { status: 'success', latency_ms: 1000 } },
    })
    expect(await latency()).toEqual([1000, 1, 1])
  })

  it('a span that comes again changes nothing, and children may come first', async () => {
    const test = await buildTestApp()
    const child = buildSpan({ span_id: spanId(2), parent_span_id: spanId(1) })
    for (const spans of [[child], [buildSpan()], [child, buildSpan()]]) {
      expect((await sendJson(test, spans)).body).toEqual({})
    }
    expect(await listCalls(test)).toHaveLength(2)
  })

  it('spans of one microsecond are listed by their nanoseconds', async () => {
    const test = await buildTestApp()
    const at = (ns: bigint, id: number) => buildSpan({ span_id: spanId(id), start_ns: ns })
    const from = 1_700_000_000_000_000_000n
    await sendJson(test, [at(from + 900n, 1), at(from + 100n, 2), at(from + 500n, 3)])
    const { body } = await test.get(`/otel/v1/traces/${TRACE}?project_id=acme/demo`)
    const ids = body.resourceSpans.flatMap(
      (each: { scopeSpans: { spans: { spanId: string }[] }[] }) =>
        each.scopeSpans.flatMap(({ spans }) => spans.map((span) => span.spanId)),
    )
    expect(ids).toEqual([spanId(2), spanId(3), spanId(1)])
  })

  it('a span id in two projects gives two calls', async () => {
    const test = await buildTestApp()
    await sendJson(test, [buildSpan()])
    await sendJson(test, [buildSpan({ name: 'other' })], { project_id: 'acme/two' })
    expect(await listCalls(test)).toMatchObject([{ op_name: 'step' }])
    expect(await listCalls(test, 'acme/two')).toMatchObject([{ op_name: 'other' }])
  })

  it('a bad span is rejected alone, and the answer says so', async () => {
    const test = await buildTestApp()
    const { status, body } = await sendJson(test, [buildSpan({ span_id: 'xyz' }), buildSpan()])
    expect(status).toBe(200)
    expect(body.partialSuccess).toEqual({
      rejectedSpans: '1',
      errorMessage: 'span_id is not 8 bytes',
    })
    expect(await listCalls(test)).toHaveLength(1)
  })

  it('a span whose id another span has is rejected alone', async () => {
    const test = await buildTestApp()
    await sendJson(test, [buildSpan()])
    const { body } = await sendJson(test, [buildSpan({ name: 'other' })])
    expect(body.partialSuccess.rejectedSpans).toBe('1')
  })

  it('a large request is read beside the main thread, to the same calls', async () => {
    const test = await buildTestApp()
    const spans = Array.from({ length: 300 }, (_, index) =>
      buildSpan({ span_id: spanId(index + 1), attributes: { text: 'x'.repeat(1000) } }),
    )
    expect((await sendProtobuf(test, toProtobufRequest(spans))).statusCode).toBe(200)
    const calls = await listCalls(test)
    expect(calls).toHaveLength(300)
    expect(calls[299].attributes.text).toHaveLength(1000)
    const broken = await sendProtobuf(test, new Uint8Array(200_000).fill(255))
    expect(broken.statusCode).toBe(400)
  })

  it('other requests are answered while a very large one is stored', async () => {
    const test = await buildTestApp()
    const spans = Array.from({ length: 12_000 }, (_, index) =>
      buildSpan({ span_id: spanId(index + 1), attributes: { text: 'x'.repeat(1000) } }),
    )
    let isStored = false
    const storing = sendProtobuf(test, toProtobufRequest(spans)).finally(() => {
      isStored = true
    })
    let between = 0
    let answered = 0
    while (!isStored) {
      expect((await test.get('/health')).status).toBe(200)
      answered += 1
      const { body } = await test.post('/calls/query_stats', { project_id: 'acme/demo' })
      if (body.count > 0 && body.count < spans.length) between += 1
    }
    expect((await storing).statusCode).toBe(200)
    expect(answered).toBeGreaterThan(10)
    // It is stored in parts, and other requests run in between.
    expect(between).toBeGreaterThan(2)
    const { body } = await test.post('/calls/query_stats', { project_id: 'acme/demo' })
    expect(body.count).toBe(spans.length)
  })

  it.each([
    ['/otel/v1/traces'],
    ['/agents/otel/v1/traces'],
    ['/traces/otel/v1/traces'],
    ['/traces/agents/otel/v1/traces'],
    ['/api/public/otel/v1/traces'],
    ['/api/otel/v1/traces'],
  ])('stands at %s, too', async (url) => {
    const test = await buildTestApp()
    expect((await test.post(url, toJsonRequest([buildSpan()]), { headers: HEADERS })).status).toBe(
      200,
    )
    expect(await listCalls(test)).toHaveLength(1)
  })
})

describe('whose project a span belongs to', () => {
  it.each([
    ['a header project_id', { project_id: 'acme/demo' }, {}],
    ['a percent-encoded header', { project_id: 'acme%2Fdemo' }, {}],
    ['Compat-Project', { 'compat-project': 'acme/demo' }, {}],
    ['wandb.entity and wandb.project', { 'wandb.entity': 'acme', 'wandb.project': 'demo' }, {}],
    ['resource attributes', {}, { 'wandb.entity': 'acme', 'wandb.project': 'demo' }],
  ])('is told by %s', async (_title, headers, resource) => {
    const test = await buildTestApp()
    const { status } = await sendJson(
      test,
      [buildSpan({ resource })],
      headers as Record<string, string>,
    )
    expect(status).toBe(200)
    expect(await listCalls(test)).toHaveLength(1)
  })

  it("is the key's only project, else a clear refusal", async () => {
    const test = await buildTestApp()
    const key = await test.createKey({ projects: ['acme/demo'] })
    const body = toJsonRequest([buildSpan()])
    expect((await test.post('/v1/traces', body, { key })).status).toBe(200)
    const refused = await test.post('/v1/traces', body)
    expect(refused).toMatchObject({ status: 400, body: { code: 3 } })
    expect(refused.body.message).toMatch(/project_id/)
  })

  it.each([
    ['no project', { project_id: 'acme' }, 'project_id'],
    ['a broken percent-encoding', { 'compat-project': 'acme%ff' }, 'compat-project'],
    ['a project of three parts', { 'wandb.entity': 'a', 'wandb.project': 'b/c' }, 'wandb.project'],
  ])('a header with %s is refused by its name', async (_title, headers, name) => {
    const test = await buildTestApp()
    const refused = await sendJson(test, [buildSpan()], headers as Record<string, string>)
    expect(refused).toMatchObject({ status: 400, body: { code: 3 } })
    expect(refused.body.message).toBe(`${name} must have the shape <entity>/<project>.`)
  })

  it('a project that the key may not use is refused, and nothing is stored', async () => {
    const test = await buildTestApp()
    const key = await test.createKey({ projects: ['other/*'] })
    const refused = await test.post('/v1/traces', toJsonRequest([buildSpan()]), {
      key,
      headers: HEADERS,
    })
    expect(refused).toMatchObject({ status: 403, body: { code: 7 } })
    expect(await listCalls(test)).toEqual([])
  })
})

describe('refusals of OTLP', () => {
  it.each(['Basic', 'Bearer'])('%s credentials are taken', async (scheme) => {
    const test = await buildTestApp()
    const secret = scheme === 'Basic' ? Buffer.from(`api:${test.key}`).toString('base64') : test.key
    const headers = { ...HEADERS, authorization: `${scheme}%20${secret}` }
    expect((await test.post('/v1/traces', toJsonRequest([]), { headers })).status).toBe(200)
  })

  it('have the encoding of the request and a status of gRPC', async () => {
    const test = await buildTestApp()
    const noKey = await test.post('/v1/traces', {}, { key: null })
    expect(noKey).toMatchObject({ status: 401, body: { code: 16 } })
    const broken = await sendProtobuf(test, Uint8Array.of(255, 255, 255))
    expect(broken.statusCode).toBe(400)
    expect(broken.headers['content-type']).toBe('application/x-protobuf')
    expect([...broken.rawPayload.subarray(0, 2)]).toEqual([8, 3])
    const notJson = await test.post('/v1/traces', 'nope', { headers: HEADERS })
    expect(notJson).toMatchObject({ status: 400, body: { code: 3 } })
  })

  it('the case of a media type does not matter', async () => {
    const test = await buildTestApp()
    const headers = { ...HEADERS, 'content-type': 'Application/JSON' }
    const { status, body } = await test.post('/v1/traces', toJsonRequest([buildSpan()]), {
      headers,
    })
    expect([status, body]).toEqual([200, {}])
  })

  it('a body over the limit is 413', async () => {
    const test = await buildTestApp({ otlpBodyBytesMax: 2000 })
    const spans = [buildSpan({ attributes: { text: 'x'.repeat(3000) } })]
    expect((await sendJson(test, spans)).status).toBe(413)
  })
})

describe('evaluations on spans', () => {
  it('are left out alone where they are too large, and the answer says so', async () => {
    const test = await buildTestApp({ feedbackPayloadBytesMax: 1024 })
    const events = ['long', 'short'].map((name) => ({
      name: 'gen_ai.evaluation.result',
      time_unix_nano: '1700000000500000000',
      attributes: {
        'gen_ai.evaluation.name': name,
        'gen_ai.evaluation.explanation': name === 'long' ? 'x'.repeat(1024) : 'x',
      },
    }))
    const { status, body } = await sendJson(test, [buildSpan({ events })])
    expect([status, body.partialSuccess]).toEqual([
      200,
      { rejectedSpans: '0', errorMessage: 'The payload has more than 1024 bytes.' },
    ])
    const found = await test.post('/feedback/query', { project_id: 'acme/demo' })
    expect(found.body.result).toMatchObject([{ feedback_type: 'otel.evaluation.short' }])
    expect(await listCalls(test)).toHaveLength(1)
  })

  it('become feedback about the call, once', async () => {
    const test = await buildTestApp()
    const span = buildSpan({
      attributes: {
        'annotations.0.annotation.name': 'tone',
        'annotations.0.annotation.score': 0.5,
      },
      events: [
        {
          name: 'gen_ai.evaluation.result',
          time_unix_nano: '1700000000500000000',
          attributes: { 'gen_ai.evaluation.name': 'right', 'gen_ai.evaluation.score.value': 1 },
        },
      ],
    })
    await sendJson(test, [span])
    await sendJson(test, [span])
    const { body } = await test.post('/feedback/query', { project_id: 'acme/demo' })
    const rows = body.result.map(
      ({ feedback_type, payload, weave_ref }: Record<string, unknown>) => ({
        feedback_type,
        payload,
        weave_ref,
      }),
    )
    const weave_ref = `weave:///acme/demo/call/${spanId(1)}`
    expect(rows).toHaveLength(2)
    expect(rows).toContainEqual({
      feedback_type: 'otel.evaluation.right',
      payload: { score: 1 },
      weave_ref,
    })
  })
})
