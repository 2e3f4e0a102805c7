import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { end, ids, list, PROJECT, start } from './query/stream-fixtures.ts'

async function buildCalls(): Promise<TestApp> {
  const app = await buildTestApp()
  await start(app, 'a', { attributes: { user: 'ada' } })
  await start(app, 'b', { inputs: { model: 'm', messages: [], user: 'bob' } })
  await start(app, 'c')
  for (const id of ['a', 'b', 'c']) {
    await end(app, id, { summary: { usage: { 'gpt-4o': { input_tokens: 10 } } } })
  }
  return app
}

describe('the end user of calls', () => {
  it('is a field of a read call beside the user of the key', async () => {
    const app = await buildCalls()
    const read = async (id: string) =>
      (await app.post('/call/read', { project_id: PROJECT, id })).body.call
    expect(await read('a')).toMatchObject({ end_user_id: 'ada', svc_user_id: 'u-1' })
    expect(await read('b')).toMatchObject({ end_user_id: 'bob' })
    expect(await read('c')).toMatchObject({ end_user_id: null })
  })

  it('filters, sorts and is shown in lists', async () => {
    const app = await buildCalls()
    expect(ids(await list(app, { filter: { end_user_ids: ['ada'] } }))).toEqual(['a'])
    const sort_by = [{ field: 'end_user_id', direction: 'desc' }]
    expect(ids(await list(app, { sort_by, limit: 2 }))).toEqual(['b', 'a'])
    const [call] = await list(app, { columns: ['end_user_id'], filter: { call_ids: ['b'] } })
    expect(call).toMatchObject({ end_user_id: 'bob' })
  })

  it('is not kept of a deleted call whose start comes later', async () => {
    const app = await buildTestApp()
    await end(app, 'a')
    await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['a'] })
    await start(app, 'a', { attributes: { user: 'ada' } })
    expect(await list(app, { filter: { end_user_ids: ['ada'] } })).toEqual([])
  })

  it('is a column of an export', async () => {
    const app = await buildCalls()
    const asked = { project_id: PROJECT, format: 'csv', columns: ['id', 'end_user_id'] }
    const { body } = await app.post('/calls/exports', asked)
    const { text } = await app.get(body.path, { key: null })
    expect(text).toContain('a,ada')
    expect(text).toContain('b,bob')
  })
})
