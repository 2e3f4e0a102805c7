import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const PROJECT = 'acme/demo'
const start = (id: string, fields: object = {}) => ({
  mode: 'start',
  req: { start: { ...STARTED, id, trace_id: `trace-${id}`, ...fields } },
})
const end = (id: string, fields: object = {}) => ({
  mode: 'end',
  req: { end: { ...ENDED, id, output: id, summary: {}, ...fields } },
})
const completed = (id: string, fields: object = {}) => ({
  ...STARTED,
  ...ENDED,
  id,
  trace_id: `trace-${id}`,
  output: id,
  summary: {},
  ...fields,
})

async function read({ post }: TestApp, id: string) {
  const { body } = await post('/call/read', { project_id: PROJECT, id })
  return body.call ?? body.error.code
}

const COMPLETE_URL = '/v2/acme/demo/calls/complete'

describe('POST /call/upsert_batch', () => {
  const url = '/call/upsert_batch'

  describe('200', () => {
    it('stores starts and ends and answers in their order', async () => {
      const app = await buildTestApp()
      const batch = [start('a'), start('b'), end('a'), end('late'), start('c')]
      const { status, body } = await app.post(url, { batch })
      expect([status, body.errors]).toEqual([200, []])
      expect(body.res).toEqual([
        { id: 'a', trace_id: 'trace-a' },
        { id: 'b', trace_id: 'trace-b' },
        {},
        {},
        { id: 'c', trace_id: 'trace-c' },
      ])
      expect(await read(app, 'a')).toMatchObject({ output: 'a', ended_at: ENDED.ended_at })
      expect(await read(app, 'b')).toMatchObject({ ended_at: null })
      expect(await read(app, 'late')).toBe('call_not_found')
    })

    it('makes ids for starts that have none', async () => {
      const app = await buildTestApp()
      const { body } = await app.post(url, { batch: [start('', { id: null, trace_id: null })] })
      expect(await read(app, body.res[0].id)).toMatchObject({ trace_id: body.res[0].trace_id })
    })

    it('changes nothing when it is sent again', async () => {
      const app = await buildTestApp()
      const batch = [start('a'), end('a'), start('b')]
      const first = await app.post(url, { batch })
      const before = await read(app, 'a')
      const again = await app.post(url, { batch })
      expect(again.body).toEqual(first.body)
      expect(await read(app, 'a')).toEqual(before)
    })

    it('takes an empty batch', async () => {
      const { post } = await buildTestApp()
      expect((await post(url, { batch: [] })).body).toEqual({ res: [], errors: [] })
    })

    const bad: [string, unknown, string, string][] = [
      ['a number', 5, 'validation_failed', 'batch[1]'],
      ['null', null, 'validation_failed', 'batch[1]'],
      ['another mode', { mode: 'stop', req: {} }, 'validation_failed', 'batch[1].mode'],
      ['no request', { mode: 'end' }, 'validation_failed', 'batch[1].req'],
      [
        'a start without op_name',
        start('x', { op_name: undefined }),
        'validation_failed',
        'batch[1].req.start.op_name',
      ],
      ['an end without an id', end('x', { id: null }), 'validation_failed', 'batch[1].req.end.id'],
      [
        'usage of too many models',
        end('x', {
          summary: { usage: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, {}])) },
        }),
        'validation_failed',
        'batch[1].req.end.summary.usage',
      ],
      [
        'a start of other content',
        start('old', { op_name: 'x' }),
        'call_conflict',
        'batch[1].req.start.id',
      ],
      [
        'an end of other content',
        end('old', { output: 'x' }),
        'call_conflict',
        'batch[1].req.end.id',
      ],
    ]
    it.each(bad)('fails %s alone and stores the rest', async (_, item, code, param) => {
      const app = await buildTestApp()
      await app.post(url, { batch: [start('old'), end('old')] })
      const { status, body } = await app.post(url, { batch: [start('a'), item, end('a')] })
      expect(status).toBe(200)
      expect(body.errors).toEqual([{ index: 1, code, param, message: expect.any(String) }])
      expect(body.res[0]).toEqual({ id: 'a', trace_id: 'trace-a' })
      expect(body.res[1]).toMatchObject({ index: 1, error: { code, param } })
      expect(body.res[2]).toEqual({})
      expect(await read(app, 'a')).toMatchObject({ output: 'a' })
      expect(await read(app, 'old')).toMatchObject({ output: 'old', op_name: 'predict' })
      expect(await read(app, 'x')).toBe('call_not_found')
    })

    it('fails an item of a project outside of the key alone', async () => {
      const app = await buildTestApp()
      const key = await app.createKey({ projects: ['acme/*'] })
      const foreign = start('x', { project_id: 'beta/demo' })
      const { body } = await app.post(url, { batch: [foreign, start('a')] }, { key })
      const param = 'batch[0].req.start.project_id'
      expect(body.errors).toMatchObject([{ index: 0, code: 'project_forbidden', param }])
      expect(await read(app, 'a')).toMatchObject({ id: 'a' })
      const other = await app.post('/call/read', { project_id: 'beta/demo', id: 'x' })
      expect(other.body.error.code).toBe('call_not_found')
    })

    it('drops names that are not known below /traces, where the root fails the item', async () => {
      const app = await buildTestApp()
      const batch = [start('a', { new_field: 1 }), end('a', { display_name: 'x', started_at: 'y' })]
      expect((await app.post(url, { batch })).body.errors).toHaveLength(2)
      expect((await app.post(`/traces${url}`, { batch })).body.errors).toEqual([])
      expect(await read(app, 'a')).toMatchObject({ output: 'a', display_name: null })
    })
  })

  describe('401, 403, 400, 405, 415', () => {
    itRefusesBadRequests({ url, body: { batch: [start('a')] }, scope: 'traces:write' })
  })

  describe('422', () => {
    it.each([
      ['batch', {}],
      ['batch', { batch: null }],
      ['batch', { batch: {} }],
      ['batch', { batch: Array.from({ length: 10_001 }, () => 0) }],
      ['more', { batch: [], more: 1 }],
    ])('responds with validation_failed for a bad %s', async (param, body) => {
      const { post } = await buildTestApp()
      const response = await post(url, body)
      expect([response.status, response.body.error.code, response.body.error.param]).toEqual([
        422,
        'validation_failed',
        param,
      ])
    })
  })

  it('responds with request_too_large above the limit, so that the client splits', async () => {
    const { post } = await buildTestApp({ bodyBytesMax: 1000 })
    const { status, body } = await post(url, {
      batch: [start('a', { inputs: { a: 'x'.repeat(2000) } })],
    })
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
  })
})

describe('POST /v2/{entity}/{project}/calls/complete', () => {
  it('stores a call at once, as start and end do', async () => {
    const app = await buildTestApp()
    const fields = { svc_run_step: 1, svc_run_step_end: 2, exception: 'E', parent_id: 'p' }
    const { status, body } = await app.post(COMPLETE_URL, { batch: [completed('a', fields)] })
    expect([status, body]).toEqual([200, { res: [{ id: 'a', trace_id: 'trace-a' }], errors: [] }])
    const other = await buildTestApp()
    const { svc_run_step, svc_run_step_end, exception, parent_id } = fields
    await other.post('/call/upsert_batch', {
      batch: [start('a', { svc_run_step, parent_id }), end('a', { svc_run_step_end, exception })],
    })
    expect(await read(app, 'a')).toEqual(await read(other, 'a'))
  })

  it('gives an end to a call that was started before', async () => {
    const app = await buildTestApp()
    const [first] = [start('a').req]
    expect((await app.post('/v2/acme/demo/call/start', first)).body).toEqual({
      id: 'a',
      trace_id: 'trace-a',
    })
    const { body } = await app.post(COMPLETE_URL, { batch: [completed('a'), completed('a')] })
    expect(body.errors).toEqual([])
    expect(await read(app, 'a')).toMatchObject({ output: 'a', ended_at: ENDED.ended_at })
  })

  it.each([
    ['another start', { op_name: 'x' }, 'call_conflict', 'batch[0].id'],
    ['another end', { output: 'x' }, 'call_conflict', 'batch[0].id'],
    ['another project', { project_id: 'acme/other' }, 'validation_failed', 'batch[0].project_id'],
    ['no trace', { trace_id: undefined }, 'validation_failed', 'batch[0].trace_id'],
    ['no end', { ended_at: null }, 'validation_failed', 'batch[0].ended_at'],
    ['no inputs', { inputs: undefined }, 'validation_failed', 'batch[0].inputs'],
    ['an unknown name', { more: 1 }, 'validation_failed', 'batch[0].more'],
  ])('fails an item with %s alone', async (_, fields, code, param) => {
    const app = await buildTestApp()
    await app.post(COMPLETE_URL, { batch: [completed('a')] })
    const batch = [completed('a', fields), completed('b')]
    const { status, body } = await app.post(COMPLETE_URL, { batch })
    expect(status).toBe(200)
    expect(body.errors).toEqual([{ index: 0, code, param, message: expect.any(String) }])
    expect(await read(app, 'a')).toMatchObject({ op_name: 'predict', output: 'a' })
    expect(await read(app, 'b')).toMatchObject({ output: 'b' })
  })

  it('writes neither part of an item whose end contradicts the stored one', async () => {
    const app = await buildTestApp()
    await app.post('/call/end', end('a').req)
    await app.post(COMPLETE_URL, { batch: [completed('a', { output: 'x' })] })
    expect(await read(app, 'a')).toBe('call_not_found')
  })

  itRefusesBadRequests({
    url: COMPLETE_URL,
    body: { batch: [completed('a')] },
    scope: 'traces:write',
  })

  it.each(['complete', 'start', 'end'])('responds with project_forbidden for %s', async (what) => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['beta/*'] })
    const url = what === 'complete' ? COMPLETE_URL : `/v2/acme/demo/call/${what}`
    const body = { complete: { batch: [] }, start: start('a').req, end: end('a').req }[what]
    const response = await post(url, body, { key })
    expect([response.status, response.body.error.code]).toEqual([403, 'project_forbidden'])
  })
})

describe('POST /v2/{entity}/{project}/call/start and /call/end', () => {
  it('make one call, the end first too', async () => {
    const app = await buildTestApp()
    expect((await app.post('/traces/v2/acme/demo/call/end', end('a').req)).body).toEqual({})
    expect((await app.post('/traces/v2/acme/demo/call/start', start('a').req)).status).toBe(200)
    expect(await read(app, 'a')).toMatchObject({ output: 'a' })
  })

  it.each([
    ['/v2/acme/other/call/start', start('a').req, 'start.project_id'],
    ['/v2/acme/other/call/end', end('a').req, 'end.project_id'],
    ['/v2/acme/a%20b%3Ac/call/end', end('a').req, 'project'],
    ['/v2/acme/demo/call/end', { end: {} }, 'end.project_id'],
    ['/v2/acme/demo/call/start', {}, 'start'],
  ])('answer validation_failed on %s', async (url, body, param) => {
    const { post } = await buildTestApp()
    const response = await post(url, body)
    expect([response.status, response.body.error.code, response.body.error.param]).toEqual([
      422,
      'validation_failed',
      param,
    ])
  })
})
