import { describe, expect, it, vi } from 'vitest'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { STARTED } from './call-fixtures.ts'

const PROJECT = { project_id: 'acme/demo' }
const URL = '/calls/tag'

/** Starts calls; the second of a pair is below the first. */
async function openCalls(
  app: TestApp,
  ...ids: (string | readonly [string, string])[]
): Promise<TestApp> {
  for (const one of ids) {
    const [id, parent_id] = typeof one === 'string' ? [one, null] : [one[1], one[0]]
    await app.post('/call/start', { start: { ...STARTED, id, trace_id: 't', parent_id } })
  }
  return app
}

const change = (call_ids: readonly string[], fields: object) => ({
  ...PROJECT,
  call_ids,
  ...fields,
})

async function tag(app: TestApp, call_ids: readonly string[], fields: object) {
  const { status, body } = await app.post(URL, change(call_ids, fields))
  return status === 200 ? [body.added_count, body.removed_count] : [body.error.param, status]
}

/** Tags of the project, as `call tag`. */
async function readTags({ post }: TestApp): Promise<string[]> {
  const { body } = await post('/feedback/query', PROJECT)
  type Row = { weave_ref: string; payload: { tag: string } }
  const texts = (body.result as Row[]).map(
    ({ weave_ref, payload }) => `${weave_ref.split('/').at(-1)} ${payload.tag}`,
  )
  return texts.sort()
}

describe('POST /calls/tag', () => {
  itRefusesBadRequests({ url: URL, body: change(['a'], { add: ['x'] }), scope: 'traces:write' })

  it('adds tags to calls and removes others, each once', async () => {
    const app = await openCalls(await buildTestApp(), 'a', 'b')
    expect(await tag(app, ['a', 'b', 'a'], { add: ['checked', 'größe 2'] })).toEqual([4, 0])
    expect(await tag(app, ['a'], { add: ['checked', 'checked'] })).toEqual([0, 0])
    expect(await tag(app, ['a', 'b'], { add: ['new'], remove: ['checked', 'none'] })).toEqual([
      2, 2,
    ])
    expect(await readTags(app)).toEqual(['a größe 2', 'a new', 'b größe 2', 'b new'])
    expect(await tag(app, ['a'], { add: ['checked'] })).toEqual([1, 0])
  })

  it('reads the feedback of at most 100 calls at once', async () => {
    const app = await buildTestApp()
    const listAbout = vi.spyOn(app.deps.feedback, 'listAbout')
    const ids = Array.from({ length: 201 }, (_, at) => `call-${at}`)
    expect(await tag(app, ids, { add: ['checked'] })).toEqual([201, 0])
    expect(await tag(app, ids, { add: ['new'], remove: ['checked'] })).toEqual([201, 201])
    const counts = listAbout.mock.calls.map(([refs]) => refs.length)
    expect(counts).toEqual([100, 100, 1, 100, 100, 1])
  })

  it('knows tags that were given as feedback, and no other feedback, and stores one that two clients add at once once', async () => {
    const app = await openCalls(await buildTestApp(), 'a')
    const weave_ref = 'weave:///acme/demo/call/a'
    const given = { ...PROJECT, weave_ref, feedback_type: 'weft.tag', payload: { tag: 'mine' } }
    for (const feedback_type of ['weft.tag', 'custom']) {
      const created = await app.post('/traces/feedback/create', { ...given, feedback_type })
      expect(created.status).toBe(200)
    }
    expect(await tag(app, ['a'], { add: ['mine'] })).toEqual([0, 0])
    expect(await tag(app, ['a'], { remove: ['mine'] })).toEqual([0, 1])
    await Promise.all([1, 2, 3].map(() => tag(app, ['a'], { add: ['once'] })))
    // The first is of the other feedback.
    expect(await readTags(app)).toEqual(['a mine', 'a once'])
  })

  it.each([
    ['no calls', { call_ids: [], add: ['x'] }, 'call_ids'],
    ['an empty tag', { add: [''] }, 'add[0]'],
    ['a tag of 65 characters', { add: ['x'.repeat(65)] }, 'add[0]'],
    ['a tag with a comma', { add: ['ok', 'a,b'] }, 'add[1]'],
    ['a tag with a line break', { remove: ['a\nb'] }, 'remove[0]'],
    ['21 tags', { add: Array.from({ length: 21 }, (_, at) => `t${at}`) }, 'add'],
    ['a tag that is added and removed', { add: ['x'], remove: ['x'] }, 'remove'],
  ])('refuses %s', async (_what, fields, param) => {
    const app = await openCalls(await buildTestApp(), 'a')
    expect(await tag(app, ['a'], fields)).toEqual([param, 422])
    expect(await readTags(app)).toEqual([])
  })

  it('gives a call at most 50 tags', async () => {
    const app = await openCalls(await buildTestApp(), 'a')
    const some = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => `t${from + at}`)
    for (const from of [0, 20]) await tag(app, ['a'], { add: some(from, 20) })
    expect(await tag(app, ['a'], { add: some(40, 11) })).toEqual(['add', 422])
    expect(await tag(app, ['a'], { add: some(40, 11), remove: ['t0'] })).toEqual([11, 1])
    expect(await tag(app, ['a'], { add: ['t1'] })).toEqual([0, 0])
  })

  it('enters the change into the audit list', async () => {
    const app = await openCalls(await buildTestApp(), 'a')
    await tag(app, ['a'], { add: ['x'], remove: ['y'] })
    const { body } = await app.get('/v1/audit?action=calls.tag')
    expect(body.data).toMatchObject([
      { before: { tags: ['y'] }, after: { call_ids: ['a'], tags: ['x'] } },
    ])
  })
})

describeEachStore('a tag of a call', (build) => {
  it('is a condition of lists of calls', async () => {
    const app = await openCalls(await build(), 'a', 'b', 'c')
    await tag(app, ['a', 'c'], { add: ['checked'] })
    await tag(app, ['c'], { add: ['slow'] })
    const find = async (expression: object) => {
      const query = { $expr: expression }
      const { text } = await app.post('/calls/stream_query', { ...PROJECT, query, columns: ['id'] })
      const lines = text.trim().split('\n').filter(Boolean)
      return lines.map((line: string) => JSON.parse(line).id).sort()
    }
    const field = { $getField: 'feedback.[weft.tag].payload.tag' }
    expect(await find({ $eq: [field, { $literal: 'checked' }] })).toEqual(['a', 'c'])
    expect(await find({ $eq: [field, { $literal: 'slow' }] })).toEqual(['c'])
    const isBare = { $eq: [{ $getField: 'feedback.[weft.tag].id' }, { $literal: null }] }
    expect(await find(isBare)).toEqual(['b'])
  })

  it('ends with the deletion of a call, also of one below it, and leaves other feedback', async () => {
    const app = await openCalls(await build(), 'a', ['a', 'below'], 'other')
    await tag(app, ['a', 'below', 'other'], { add: ['x'] })
    const weave_ref = 'weave:///acme/demo/call/a'
    const note = { ...PROJECT, weave_ref, feedback_type: 'custom', payload: { tag: 'no tag' } }
    await app.post('/traces/feedback/create', note)
    const deleted = await app.post('/calls/delete', { ...PROJECT, call_ids: ['a'] })
    expect(deleted.body).toEqual({ num_deleted: 2 })
    expect(await readTags(app)).toEqual(['a no tag', 'other x'])
  })
})
