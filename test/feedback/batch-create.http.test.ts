import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { buildQueueApp, FEEDBACK, FULL_FEEDBACK, storedPaths } from './feedback-fixtures.ts'

const URL = '/feedback/batch/create'
const CALL = 'weave:///acme/demo/call/call-1'

describe('POST /feedback/batch/create', () => {
  itRefusesBadRequests({ url: URL, body: { batch: [FEEDBACK] }, scope: 'traces:write' })

  it('stores every item and answers in their order', async () => {
    const { post, key } = await buildTestApp()
    const batch = ['a', 'b', 'c'].map((id) => ({ ...FEEDBACK, id, payload: { [id]: 1 } }))
    const { status, body } = await post(URL, { batch }, { key })
    expect([status, body.errors]).toEqual([200, []])
    expect(body.res.map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'c'])
    expect(body.res[0]).toMatchObject({ svc_user_id: 'u-1', payload: { a: 1 } })
    const query = await post('/feedback/query', { project_id: 'acme/demo', fields: ['id'] })
    expect(query.body.result).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  })

  it('stores nothing and says so for an empty batch', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post(URL, { batch: [] })
    expect([status, body]).toEqual([200, { res: [], errors: [] }])
  })

  it('lets bad items fail alone, each with its place and reason', async () => {
    const app = await buildTestApp()
    await app.post('/feedback/create', { ...FEEDBACK, id: 'taken' })
    const key = await app.createKey({ projects: ['acme/demo'] })
    const batch = [
      { ...FEEDBACK, id: 'good', payload: { good: 1 } },
      { ...FEEDBACK, weave_ref: 'nothing' },
      null,
      { ...FEEDBACK, project_id: 'acme/other' },
      { ...FEEDBACK, id: 'taken', payload: { other: 1 } },
      { ...FEEDBACK, feedback_type: 'wandb.note.1', payload: { note: '' } },
      { ...FEEDBACK, id: 'last', payload: { last: 1 } },
      { ...FEEDBACK, more: 1 },
    ]
    const { status, body } = await app.post(URL, { batch }, { key })
    expect(status).toBe(200)
    const faults = body.errors.map(({ index, code, param }: Record<string, unknown>) => [
      index,
      code,
      param,
    ])
    expect(faults).toEqual([
      [1, 'validation_failed', 'batch[1].weave_ref'],
      [2, 'validation_failed', 'batch[2]'],
      [3, 'project_forbidden', 'batch[3].project_id'],
      [4, 'feedback_conflict', 'batch[4].id'],
      [5, 'validation_failed', 'batch[5].payload.note'],
      [7, 'validation_failed', 'batch[7].more'],
    ])
    expect(body.res[4]).toMatchObject({ index: 4, error: { code: 'feedback_conflict' } })
    expect([body.res[0].id, body.res[6].id]).toEqual(['good', 'last'])
    const { body: found } = await app.post('/feedback/query', {
      project_id: 'acme/demo',
      fields: ['id'],
      sort_by: [{ field: 'id', direction: 'asc' }],
    })
    expect(found.result).toEqual([{ id: 'good' }, { id: 'last' }, { id: 'taken' }])
  })

  it('changes nothing when a batch is sent again, in itself or later', async () => {
    const { post } = await buildQueueApp()
    const batch = [FULL_FEEDBACK, FULL_FEEDBACK]
    const first = await post(URL, { batch })
    const again = await post(URL, { batch })
    expect(first.body.errors).toEqual([])
    expect(again.body).toEqual(first.body)
    const { body } = await post('/feedback/query', {
      project_id: 'acme/demo',
      fields: ['count(*)'],
    })
    expect(body.result).toEqual([{ 'count(*)': 1 }])
  })

  it.each([
    ['batch', {}],
    ['batch', { batch: null }],
    ['batch', { batch: {} }],
    ['batch', { batch: Array.from({ length: 10_001 }, () => 1) }],
    ['more', { batch: [], more: 1 }],
  ])('refuses a bad body by its field %s', async (param, body) => {
    const app = await buildTestApp()
    const answer = await app.post(URL, body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([
      422,
      'validation_failed',
      param,
    ])
    expect(await storedPaths(app)).toEqual([])
  })

  it('refuses a payload over its limit alone', async () => {
    const { post } = await buildTestApp({ feedbackPayloadBytesMax: 20 })
    const batch = [{ ...FEEDBACK, payload: { text: 'x'.repeat(20) } }, FEEDBACK]
    const { status, body } = await post(URL, { batch })
    expect([status, body.errors.length, body.errors[0].code]).toEqual([200, 1, 'request_too_large'])
  })

  it('keeps every digit of a payload', async () => {
    const { post } = await buildTestApp()
    const text = JSON.stringify({ batch: [{ ...FEEDBACK, id: 'f' }] }).replace(
      '0.9',
      '12345678901234567890.25',
    )
    expect((await post(URL, text)).text).toContain('12345678901234567890.25')
    const { text: found } = await post('/feedback/query', { project_id: 'acme/demo' })
    expect(found).toContain('12345678901234567890.25')
  })
})

describe('POST /traces/feedback/batch/create', () => {
  const url = `/traces${URL}`

  it('takes refs of calls, objects that score, and fields that it does not know', async () => {
    const { post } = await buildTestApp()
    const score = {
      ...FEEDBACK,
      id: 'score',
      weave_ref: CALL,
      feedback_type: 'wandb.runnable.accuracy',
      payload: { output: 1, wb_user_id: 'kept' },
      runnable_ref: 'weave:///acme/demo/object/accuracy:v1',
      call_ref: null,
      scorer_tags: [],
      span_status_code: 'UNSET',
      wb_user_id: null,
    }
    const { status, body } = await post(url, { batch: [score] }, { key: undefined })
    expect([status, body.errors]).toEqual([200, []])
    expect(body.res[0]).toMatchObject({ id: 'score', wb_user_id: 'u-1' })
    expect(body.res[0].payload).toEqual(score.payload)
  })

  it('names the fields of bad items as they were sent', async () => {
    const { post } = await buildTestApp()
    const { body } = await post(url, { batch: [{ ...FEEDBACK, weave_ref: 'x' }] })
    expect(body.errors).toMatchObject([{ index: 0, param: 'batch[0].weave_ref' }])
  })

  it.each([
    'nothing',
    'weave:///acme/demo',
    'weave:///acme/demo/call/',
    `${CALL} `,
    `${CALL}\nx`,
    'http://a/b/c/d',
  ])('still refuses %s as a ref', async (weave_ref) => {
    const { post } = await buildTestApp()
    const { body } = await post(url, { batch: [{ ...FEEDBACK, weave_ref }] })
    expect(body.errors).toMatchObject([{ index: 0, param: 'batch[0].weave_ref' }])
  })
})
