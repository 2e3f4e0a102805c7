import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const PROJECT = 'acme/demo'

async function start({ post }: TestApp, id: string, fields: object = {}) {
  const response = await post('/call/start', {
    start: { ...STARTED, id, trace_id: 't', ...fields },
  })
  expect(response.status).toBe(200)
}

async function read({ post }: TestApp, id: string, project_id = PROJECT) {
  const { body } = await post('/call/read', { project_id, id })
  return body.call ?? body.error.code
}

async function countCalls({ post }: TestApp): Promise<number> {
  const { body } = await post('/calls/stats', {
    project_id: PROJECT,
    start: '2026-01-02T00:00:00Z',
    end: '2026-01-03T00:00:00Z',
    granularity: 86_400,
    call_metrics: [{ metric: 'call_count' }],
  })
  return body.call_buckets[0].sum_call_count
}

describe('POST /call/update', () => {
  const url = '/call/update'
  const rename = (display_name: unknown) => ({ project_id: PROJECT, call_id: 'a', display_name })

  it('gives a call a name and takes it away', async () => {
    const app = await buildTestApp()
    await start(app, 'a', { display_name: 'first' })
    expect((await app.post(url, rename('second'))).body).toEqual({})
    expect(await read(app, 'a')).toMatchObject({
      display_name: 'second',
      summary: { weave: { display_name: 'second' } },
    })
    for (const none of ['', null]) {
      await app.post(url, rename('again'))
      await app.post(url, rename(none))
      expect(await read(app, 'a')).toMatchObject({ display_name: null })
    }
  })

  it('stays when the start and the end arrive later or again', async () => {
    const app = await buildTestApp()
    await app.post(url, rename('early'))
    expect(await read(app, 'a')).toBe('call_not_found')
    await app.post('/call/end', { end: { ...ENDED, id: 'a', output: 1 } })
    await start(app, 'a', { display_name: 'first' })
    await start(app, 'a', { display_name: 'first' })
    expect(await read(app, 'a')).toMatchObject({ display_name: 'early', output: 1 })
  })

  it('finds no call of another project, and no deleted one', async () => {
    const app = await buildTestApp()
    await start(app, 'a')
    await app.post(url, { ...rename('other'), project_id: 'acme/other' })
    expect(await read(app, 'a')).toMatchObject({ display_name: null })
    await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['a'] })
    const { status, body } = await app.post(url, rename('x'))
    expect([status, body.error.code, body.error.param]).toEqual([404, 'call_not_found', 'call_id'])
  })

  itRefusesBadRequests({ url, body: rename('x'), scope: 'traces:write' })

  it.each([
    ['project_id', undefined],
    ['project_id', 'x'],
    ['call_id', undefined],
    ['call_id', null],
    ['call_id', ''],
    ['display_name', 5],
    ['display_name', 'x'.repeat(1025)],
    ['display_name', 'a\u0000b'],
    ['name', 'x'],
  ])('responds with validation_failed for %s = %j', async (field, value) => {
    const app = await buildTestApp()
    await start(app, 'a')
    const { status, body } = await app.post(url, { ...rename('x'), [field]: value })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', field])
    expect(await read(app, 'a')).toMatchObject({ display_name: null })
  })

  it('responds with project_forbidden', async () => {
    const { post, createKey } = await buildTestApp()
    const { status } = await post(url, rename('x'), {
      key: await createKey({ projects: ['beta/*'] }),
    })
    expect(status).toBe(403)
  })
})

describe('POST /calls/delete', () => {
  const url = '/calls/delete'
  const remove = (...call_ids: string[]) => ({ project_id: PROJECT, call_ids })

  it('deletes calls and all their descendants, once, and statistics see it', async () => {
    const app = await buildTestApp()
    await start(app, 'a')
    await start(app, 'a1', { parent_id: 'a' })
    await start(app, 'a2', { parent_id: 'a', trace_id: 'other' })
    await start(app, 'a11', { parent_id: 'a1' })
    await start(app, 'b')
    await start(app, 'same-parent-elsewhere', { parent_id: 'a', project_id: 'acme/other' })
    expect(await countCalls(app)).toBe(5)
    expect((await app.post(url, remove('a1', 'unknown'))).body).toEqual({ num_deleted: 2 })
    expect(await read(app, 'a11')).toBe('call_not_found')
    expect(await read(app, 'a2')).toMatchObject({ id: 'a2' })
    expect((await app.post(url, remove('a', 'a1'))).body).toEqual({ num_deleted: 2 })
    expect((await app.post(url, remove('a', 'a'))).body).toEqual({ num_deleted: 0 })
    expect(await countCalls(app)).toBe(1)
    expect(await read(app, 'b')).toMatchObject({ id: 'b' })
    expect(await read(app, 'same-parent-elsewhere', 'acme/other')).toMatchObject({})
  })

  it('ends on parents that go round in a circle', async () => {
    const app = await buildTestApp()
    await start(app, 'a', { parent_id: 'b' })
    await start(app, 'b', { parent_id: 'a' })
    await start(app, 'c', { parent_id: 'c' })
    expect((await app.post(url, remove('a', 'c'))).body).toEqual({ num_deleted: 3 })
  })

  it('keeps a call deleted when its end or its start comes later or again', async () => {
    const app = await buildTestApp()
    await start(app, 'a')
    await app.post('/call/end', { end: { ...ENDED, id: 'early' } })
    await app.post(url, remove('a', 'early'))
    await app.post('/call/end', { end: { ...ENDED, id: 'a' } })
    await start(app, 'a')
    await start(app, 'early')
    expect([await read(app, 'a'), await read(app, 'early')]).toEqual([
      'call_not_found',
      'call_not_found',
    ])
  })

  it('deletes nothing for an empty list', async () => {
    const app = await buildTestApp()
    await start(app, 'a')
    expect((await app.post(url, remove())).body).toEqual({ num_deleted: 0 })
    expect(await read(app, 'a')).toMatchObject({ id: 'a' })
  })

  itRefusesBadRequests({ url, body: remove('a'), scope: 'traces:write' })

  it.each([
    ['project_id', undefined],
    ['call_ids', undefined],
    ['call_ids', null],
    ['call_ids', 'a'],
    ['call_ids[0]', [5]],
    ['call_ids', Array.from({ length: 1001 }, () => 'a')],
    ['more', 1],
  ])('responds with validation_failed for a bad %s', async (param, value) => {
    const app = await buildTestApp()
    await start(app, 'a')
    const field = param.replace('[0]', '')
    const { status, body } = await app.post(url, { ...remove('a'), [field]: value })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
    expect(await read(app, 'a')).toMatchObject({ id: 'a' })
  })

  it('responds with project_forbidden and deletes nothing', async () => {
    const app = await buildTestApp()
    await start(app, 'a')
    const key = await app.createKey({ projects: ['beta/*'] })
    expect((await app.post(url, remove('a'), { key })).status).toBe(403)
    expect(await read(app, 'a')).toMatchObject({ id: 'a' })
  })
})
