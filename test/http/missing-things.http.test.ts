/** Missing things are an error at the root, and an empty response for the vendor's clients. */
import { expect, it } from 'vitest'
import { STARTED } from '../calls/call-fixtures.ts'
import { FEEDBACK } from '../feedback/feedback-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const project_id = 'acme/demo'
const digest = '0'.repeat(64)

it.each([
  ['/call/read', { project_id, id: 'none' }, { call: null }, 'call_not_found'],
  ['/call/read', { project_id, id: 'gone' }, { call: null }, 'call_not_found'],
  ['/table/query', { project_id, digest }, { rows: [] }, 'table_not_found'],
  ['/table/query_stats', { project_id, digest }, { count: 0 }, 'table_not_found'],
])('the response of %s for %j is %j below /traces and %s at /', async (url, body, empty, code) => {
  const { post } = await buildTestApp()
  await post('/call/start', { start: { ...STARTED, id: 'gone' } })
  await post('/calls/delete', { project_id, call_ids: ['gone'] })
  const loose = await post(`/traces${url}`, body)
  expect([loose.status, loose.body]).toEqual([200, empty])
  const strict = await post(url, body)
  expect([strict.status, strict.body.error.code]).toEqual([404, code])
})

it('feedback replaces missing feedback below /traces only', async () => {
  const { post } = await buildTestApp()
  const body = { ...FEEDBACK, feedback_id: 'none', wb_user_id: 'somebody' }
  const { wb_user_id: _user, ...strict } = body
  expect((await post('/feedback/replace', strict)).body.error.code).toBe('feedback_not_found')
  const { status, body: made } = await post('/traces/feedback/replace', body)
  expect([status, made.wb_user_id]).toEqual([200, 'u-1'])
  const asked = { project_id, fields: ['id'] }
  expect((await post('/traces/feedback/query', asked)).body.result).toEqual([{ id: made.id }])
})

it('a deleted object that is published again gets a new creation time', async () => {
  const { post } = await buildTestApp()
  const obj = { project_id, object_id: 'thing', val: { a: 1 } }
  const { body } = await post('/obj/create', { obj })
  const read = async () => {
    const response = await post('/obj/read', {
      project_id,
      object_id: 'thing',
      digest: body.digest,
    })
    return response.body.obj.created_at
  }
  const first = await read()
  await post('/obj/create', { obj })
  expect(await read()).toBe(first)
  await post('/obj/delete', { project_id, object_id: 'thing' })
  await post('/obj/create', { obj })
  expect((await read()) > first).toBe(true)
})

it.each(['a..b', '.a', 'a.'])('a sort of a table by %s is refused', async (field) => {
  const { post } = await buildTestApp()
  const body = { project_id, digest, sort_by: [{ field, direction: 'asc' }] }
  const response = await post('/table/query', body)
  expect([response.status, response.body.error.param]).toEqual([422, 'sort_by[0].field'])
})
