import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLargeBodies, PARSED_BYTES_MAX } from '../../src/routes/bodies/large-bodies.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const project_id = 'acme/demo'
const started_at = '2026-01-31T09:30:00Z'
const long = 'x'.repeat(PARSED_BYTES_MAX)
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))
const startOf = (inputs: object, more: object = {}) => ({
  start: { project_id, id: 'a', op_name: 'op', started_at, attributes: {}, inputs, ...more },
})
const endOf = (output: unknown) => ({ end: { project_id, id: 'a', ended_at: started_at, output } })
const completed = (inputs: object) => ({
  ...startOf(inputs).start,
  trace_id: 't',
  ended_at: started_at,
  output: null,
  summary: {},
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a body of more than 512 KiB', () => {
  it.each([
    ['/call/start', startOf({ long })],
    ['/traces/call/start', startOf({ long }, { wb_run_id: 'r' })],
    ['/v2/acme/demo/call/start', startOf({ long })],
    ['/call/end', endOf(long)],
    ['/v2/acme/demo/call/end', endOf(long)],
    ['/call/upsert_batch', { batch: [{ mode: 'start', req: startOf({ long }) }] }],
    ['/v2/acme/demo/calls/complete', { batch: [completed({ long })] }],
    ['/obj/create', { obj: { project_id, object_id: 'o', val: { long } } }],
    ['/table/create', { table: { project_id, rows: [{ long }] } }],
  ])('a body of more than 512 KiB is not parsed on the event loop by %s', async (url, body) => {
    const { post } = await buildTestApp()
    const parse = vi.spyOn(JSON, 'parse')
    const { status } = await post(url, body)
    const lengths = parse.mock.calls.map(([text]) => text.length)
    expect(status).toBe(200)
    expect(Math.max(0, ...lengths)).toBeLessThan(PARSED_BYTES_MAX)
  })

  it('a large body is stored like a small one, with every digit, the user and the refs', async () => {
    const { app, key, post } = await buildTestApp()
    const ref = 'weave:///acme/demo/object/o:1'
    const text = JSON.stringify(startOf({ ref, long })).replace(
      '"ref"',
      '"n":1234567890123456789.0,"ref"',
    )
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/call/start',
      headers: { authorization: `Basic ${btoa(`api:${key}`)}`, 'content-type': 'application/json' },
      payload: text,
    })
    expect(statusCode).toBe(200)
    const read = await post('/call/read', { project_id, id: 'a' })
    expect(read.text).toContain('"n":1234567890123456789')
    expect(read.body.call).toMatchObject({ svc_user_id: 'u-1', inputs: { ref } })
    const filter = { input_refs: [ref] }
    const count = await post('/calls/query_stats', { project_id, filter })
    expect(count.body.count).toBe(1)
  })

  it.each([
    ['a field of the wrong type', startOf({ long }, { op_name: 7 }), 422, 'start.op_name'],
    ['an unknown field', { ...startOf({ long }), more: 1 }, 422, 'more'],
    ['a project of others', startOf({ long }, { project_id: 'other/x' }), 403, 'start.project_id'],
  ])('a large body is refused for %s', async (_name, body, status, param) => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['acme/*'] })
    const response = await post('/call/start', body, { key })
    expect([response.status, response.body.error.param]).toEqual([status, param])
  })

  it('a large body that is not JSON is refused', async () => {
    const { app, key } = await buildTestApp()
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/call/start',
      headers: { authorization: `Basic ${btoa(`api:${key}`)}`, 'content-type': 'application/json' },
      payload: `{"start":"${long}`,
    })
    expect([statusCode, JSON.parse(body).error.code]).toEqual([400, 'invalid_json'])
  })

  it('a large batch loses only its invalid items', async () => {
    const { post } = await buildTestApp()
    const bad = { mode: 'start', req: startOf({}, { started_at: 'never' }) }
    const batch = [{ mode: 'start', req: startOf({ long }) }, bad]
    const { status, body } = await post('/call/upsert_batch', { batch })
    expect([status, body.res[0].id]).toEqual([200, 'a'])
    expect(body.errors).toEqual([
      expect.objectContaining({ index: 1, param: 'batch[1].req.start.started_at' }),
    ])
  })

  it('a body that does not fit into the memory of its thread is refused', async () => {
    const { entry } = {
      entry: new URL('../../src/routes/bodies/large-body-entry.ts', import.meta.url),
    }
    const bodies = createLargeBodies({
      refScheme: 'weave',
      nowUs: () => 0,
      threadEntry: { heapMibMax: 40, entry },
    })
    const body = Buffer.from(JSON.stringify(startOf(members(1_000_000))))
    const request = { body, principal: null, params: {} }
    const app = { naming: { isStrict: true } }
    await expect(bodies.prepare(app as never, request as never, 'start')).rejects.toMatchObject({
      code: 'request_too_large',
    })
    await bodies.close()
  })
})

describe('a body that is parsed on the event loop', () => {
  const chat = (more: object) => ({
    model: 'none',
    messages: [{ role: 'user', content: 'a' }],
    ...more,
  })

  it.each([
    ['/v1/chat/completions', chat({ logit_bias: members(70_000) })],
    ['/v1/embeddings', { model: 'none', input: Array(1_048_577).fill(7) }],
    ['/feedback/create', { project_id, payload: members(70_000) }],
    ['/v1/responses', { model: 'none', input: Array(70_000).fill([]) }],
  ])('a body with too many values for the event loop is refused by %s', async (url, body) => {
    const { post } = await buildTestApp()
    const { status, body: response } = await post(url, body)
    expect([status, response.error.code]).toEqual([413, 'request_too_large'])
    expect(response.error.message).toMatch(/^The body holds more than \d+ /)
  })

  it.each([
    ['/v1/embeddings', { model: 'none', input: Array(100_000).fill(7) }],
    ['/v1/chat/completions', chat({ messages: [{ role: 'user', content: '"{[:,'.repeat(2e6) }] })],
  ])('long lists of numbers and long texts are accepted by %s', async (url, body) => {
    const { post } = await buildTestApp()
    expect((await post(url, body)).status).toBe(404)
  })
})
