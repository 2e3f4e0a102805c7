import { describe, expect, it } from 'vitest'
import { hasClickHouse } from '../store/clickhouse/clickhouse-server.ts'
import { buildClickHouseApp, describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { buildSpan, frame, spanId, TRACE, toJsonRequest } from './otel-fixtures.ts'

const HEADERS = { project_id: 'acme/demo' }
const SPAN = buildSpan({
  attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' },
})

type Json = Record<string, unknown>
const text = (value: string) => ({ stringValue: value })
const map = (fields: Json) => ({
  kvlistValue: { values: Object.entries(fields).map(([key, value]) => ({ key, value })) },
})

function record(event: Json, changes: Json = {}): Json {
  return {
    traceId: TRACE,
    spanId: spanId(1),
    timeUnixNano: '1700000000500000000',
    ...event,
    ...changes,
  }
}
const named = (name: string) => [{ key: 'event.name', value: text(name) }]

/** The three ways of writing a message: a body with fields, JSON as a text, and all messages as attributes. */
const USER = record({ eventName: 'gen_ai.user.message', body: map({ content: text('Plain?') }) })
const CHOICE = record({
  attributes: named('gen_ai.choice'),
  body: text('{"message": {"role": "assistant", "content": "Plain."}, "finish_reason": "stop"}'),
  observedTimeUnixNano: '1700000000600000000',
  timeUnixNano: '0',
})

function logsOf(...records: readonly Json[]) {
  return { resourceLogs: [{ scopeLogs: [{ scope: { name: 'lib' }, logRecords: records }] }] }
}

const sendLogs = (test: TestApp, ...records: readonly Json[]) =>
  test.post('/v1/logs', logsOf(...records), { headers: HEADERS })
const sendSpan = (test: TestApp, span = SPAN) =>
  test.post('/v1/traces', toJsonRequest([span]), { headers: HEADERS })

async function readCall(test: TestApp) {
  const { text: lines } = await test.post('/calls/stream_query', { project_id: 'acme/demo' })
  return lines === '' ? null : JSON.parse(lines)
}

const MESSAGES = [{ role: 'user', content: 'Plain?' }]
const CHOICES = [
  { index: 0, message: { role: 'assistant', content: 'Plain.' }, finish_reason: 'stop' },
]

describeEachStore('POST /v1/logs', (build) => {
  it('joins messages to their span in any order and in any batches', async () => {
    const steps = [
      (test: TestApp) => sendLogs(test, USER),
      (test: TestApp) => sendLogs(test, CHOICE),
      (test: TestApp) => sendSpan(test),
    ]
    const calls = []
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [0, 2, 1],
    ]) {
      const test = await build()
      for (const index of order) {
        const response = await steps[index]?.(test)
        expect(response).toMatchObject({ status: 200, body: {} })
      }
      calls.push(await readCall(test))
    }
    expect(calls[0]).toMatchObject({
      inputs: { model: 'm', messages: MESSAGES },
      output: { choices: CHOICES },
    })
    expect(calls[0].attributes.otel_span.events.map(({ name }: Json) => name)).toEqual([
      'gen_ai.user.message',
      'gen_ai.choice',
    ])
    for (const call of calls) expect(call).toEqual(calls[0])
  })

  it('changes nothing when spans and records are sent again, and keeps the size of the call right', async () => {
    const test = await build()
    await sendSpan(test)
    await sendLogs(test, USER, CHOICE)
    const call = await readCall(test)
    expect(await sendSpan(test)).toMatchObject({ status: 200, body: {} })
    expect(await sendLogs(test, USER, USER)).toMatchObject({ status: 200, body: {} })
    expect(await readCall(test)).toEqual(call)
    const other = await build()
    await sendLogs(other, USER, CHOICE)
    await sendSpan(other)
    const sizes = await Promise.all(
      [test, other].map((app) =>
        app.post('/calls/query_stats', {
          project_id: 'acme/demo',
          include_total_storage_size: true,
        }),
      ),
    )
    expect(sizes[0]?.body).toEqual(sizes[1]?.body)
  })

  it('completes a running span, and takes the messages of the new conventions as attributes', async () => {
    const test = await build()
    await sendSpan(test, { ...SPAN, end_ns: 0n })
    const messages = '[{"role":"user","parts":[{"type":"text","content":"Plain?"}]}]'
    const details = record({
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: [{ key: 'gen_ai.input.messages', value: text(messages) }],
    })
    await sendLogs(test, details, CHOICE)
    expect(await readCall(test)).toMatchObject({
      ended_at: null,
      inputs: { messages: MESSAGES },
      output: null,
    })
    expect(await sendSpan(test)).toMatchObject({ status: 200, body: {} })
    expect(await readCall(test)).toMatchObject({
      ended_at: expect.any(String),
      inputs: { messages: MESSAGES },
      output: { choices: CHOICES },
    })
  })

  it('discards other records with plain success, without a project and in both encodings', async () => {
    const test = await build()
    const plain = [
      record({ body: text('started') }),
      { eventName: 'gen_ai.user.message', body: text('no span') },
    ]
    expect(await test.post('/v1/logs', logsOf(...plain))).toMatchObject({ status: 200, body: {} })
    const empty = frame(
      0x0a,
      frame(0x12, frame(0x12, frame(0x62, Buffer.from('device.app.started')))),
    )
    const protobuf = await test.app.inject({
      method: 'POST',
      url: '/otel/v1/logs',
      headers: { authorization: `Bearer ${test.key}`, 'content-type': 'application/x-protobuf' },
      payload: empty,
    })
    expect([protobuf.statusCode, protobuf.rawPayload.length]).toEqual([200, 0])
  })

  it('refuses as traces are refused, and counts records that cannot be read', async () => {
    const test = await build()
    expect(await test.post('/v1/logs', logsOf(USER))).toMatchObject({ status: 400 })
    const headers = { ...HEADERS, authorization: 'Bearer wk_unknown' }
    expect(await test.post('/v1/logs', logsOf(USER), { headers })).toMatchObject({ status: 401 })
    expect(await test.post('/v1/logs', '{', { headers: HEADERS })).toMatchObject({ status: 400 })
    const broken = record({ eventName: 'gen_ai.choice' }, { spanId: 'abc' })
    expect(await sendLogs(test, broken, USER)).toMatchObject({
      status: 200,
      body: { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'span_id is not 8 bytes' } },
    })
    await sendSpan(test)
    expect(await readCall(test)).toMatchObject({ inputs: { messages: MESSAGES } })
  })

  it('joins nothing to a span of another trace, another project or a deleted call', async () => {
    const test = await build()
    await sendSpan(test)
    await sendLogs(test, { ...USER, traceId: TRACE.replace('0', '1') })
    await test.post('/v1/logs', logsOf(USER), { headers: { project_id: 'acme/other' } })
    expect((await readCall(test)).inputs).toEqual({ model: 'm' })
    await test.post('/calls/delete', { project_id: 'acme/demo', call_ids: [SPAN.span_id] })
    expect(await sendLogs(test, USER)).toMatchObject({ status: 200, body: {} })
    expect(await readCall(test)).toBeNull()
  })

  it('shows messages wherever calls are read, and finds calls by them and by their refs', async () => {
    const test = await build()
    const ref = 'weave:///acme/demo/object/prompt:v1'
    await sendSpan(test)
    await sendLogs(
      test,
      record({ eventName: 'gen_ai.user.message', body: map({ content: text(ref) }) }),
    )
    await sendLogs(test, CHOICE)
    const find = async (fields: Json) =>
      (await test.post('/calls/stream_query', { project_id: 'acme/demo', ...fields })).text
    const literal = (field: string, value: string) => ({
      query: { $expr: { $contains: { input: { $getField: field }, substr: { $literal: value } } } },
    })
    expect(JSON.parse(await find({ columns: ['inputs'] })).inputs.messages).toHaveLength(1)
    for (const filter of [
      { input_refs: [ref] },
      { input_refs: ['weave:///acme/demo/object/prompt:*'] },
    ]) {
      expect(await find({ filter })).toContain(SPAN.span_id)
    }
    expect(await find({ filter: { output_refs: [ref] } })).toBe('')
    expect(await find(literal('inputs.messages.0.content', 'prompt'))).toContain(SPAN.span_id)
    expect(await find(literal('output.choices.0.message.content', 'Plain.'))).toContain(
      SPAN.span_id,
    )
    const read = await test.post('/call/read', { project_id: 'acme/demo', id: SPAN.span_id })
    expect(read.body.call.output.choices[0].message.content).toBe('Plain.')
    const spans = await test.post('/agents/spans/query', {
      project_id: 'acme/demo',
      include_details: true,
    })
    expect(JSON.stringify(spans.body)).toContain('Plain.')
  })

  it('takes at most 1,000 records of one span', async () => {
    const test = await build()
    const said = (content: string) =>
      record({ eventName: 'gen_ai.user.message', body: map({ content: text(content) }) })
    const many = Array.from({ length: 1000 }, (_, index) => said(String(index)))
    expect(await sendLogs(test, ...many)).toMatchObject({ status: 200, body: {} })
    const refused = { partialSuccess: { rejectedLogRecords: '2' } }
    expect((await sendLogs(test, said('more'), said('7'))).body).toMatchObject(refused)
    await sendSpan(test)
    expect((await readCall(test)).inputs.messages).toHaveLength(1000)
  })
})

describe.skipIf(!hasClickHouse)('a list with previews in ClickHouse', () => {
  it.each([
    ['joins messages to a short span', 1_000, []],
    [
      'names the messages of a span that is too long to be read',
      1_100_000,
      ['attributes', 'inputs', 'output'],
    ],
  ])('%s', async (_title, length, unread) => {
    const test = await buildClickHouseApp()
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      notes: 'x'.repeat(length),
    }
    await sendSpan(test, buildSpan({ attributes }))
    await sendLogs(test, USER, CHOICE)
    expect((await readCall(test)).inputs.messages).toEqual(MESSAGES)
    const request = { project_id: 'acme/demo', preview_bodies: true }
    const { inputs, summary } = JSON.parse((await test.post('/calls/stream_query', request)).text)
    expect(summary.weave.unread_bodies ?? []).toEqual(unread)
    expect(inputs.messages).toEqual(unread.length === 0 ? MESSAGES : undefined)
  })
})
