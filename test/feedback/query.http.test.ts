import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FEEDBACK_FIELDS } from '../../src/domain/feedback/feedback-view.ts'
import { SCORE_DEFAULTS } from '../../src/schemas/feedback/score-defaults.ts'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { buildQueueApp, FEEDBACK, FULL_FEEDBACK } from './feedback-fixtures.ts'

const URL = '/feedback/query'
const PROJECT = { project_id: 'acme/demo' }

const field = ($getField: string) => ({ $getField })
const literal = ($literal: unknown) => ({ $literal })

async function store(app: TestApp, ...items: object[]): Promise<void> {
  const batch = items.map((item) => ({ ...FEEDBACK, ...item }))
  const { body } = await app.post('/feedback/batch/create', { batch })
  if (body.errors.length > 0) throw new Error(JSON.stringify(body))
}

async function find(app: TestApp, request: object) {
  const { status, body } = await app.post(URL, { ...PROJECT, ...request })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.result
}

async function idsOf(app: TestApp, request: object): Promise<string[]> {
  const rows = await find(app, { fields: ['id'], ...request })
  return rows.map(({ id }: { id: string }) => id)
}

describe('POST /feedback/query', () => {
  itRefusesBadRequests({ url: URL, body: PROJECT, scope: 'traces:read' })

  it('answers every field of a row', async () => {
    const app = await buildQueueApp()
    const { body } = await app.post('/feedback/create', FULL_FEEDBACK)
    const [row] = await find(app, {})
    expect(Object.keys(row)).toEqual(FEEDBACK_FIELDS)
    expect(row).toEqual({ ...SCORE_DEFAULTS, ...FULL_FEEDBACK, ...body })
  })

  it('answers null for what was not given', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'f' })
    const [row] = await find(app, { fields: ['creator', 'call_ref', 'queue_id', 'payload.no'] })
    expect(row).toEqual({ creator: null, call_ref: null, queue_id: null, 'payload.no': null })
  })

  it('dots into payloads, lists by index', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'f', payload: { note: 'x', list: [{ a: 1 }, { a: 2 }] } })
    const fields = ['payload.note', 'payload.list.1.a', 'payload.list', 'id']
    expect(await find(app, { fields })).toEqual([
      { 'payload.note': 'x', 'payload.list.1.a': 2, 'payload.list': [{ a: 1 }, { a: 2 }], id: 'f' },
    ])
  })

  it('counts what meets the condition, whatever the page', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'a' }, { id: 'b' }, { id: 'c', feedback_type: 'other' })
    const query = { $expr: { $eq: [field('feedback_type'), literal('custom')] } }
    expect(await find(app, { fields: ['count(*)'], query, limit: 1 })).toEqual([{ 'count(*)': 2 }])
  })

  it('finds the feedback about one ref, oldest first', async () => {
    const app = await buildTestApp()
    const weave_ref = 'weave:///acme/demo/object/other:v1'
    await store(app, { id: 'a', weave_ref }, { id: 'b' }, { id: 'c', weave_ref })
    const query = { $expr: { $eq: [field('weave_ref'), literal(weave_ref)] } }
    const sort_by = [{ field: 'created_at', direction: 'asc' }]
    expect(await idsOf(app, { query, sort_by })).toEqual(['a', 'c'])
    expect(
      await idsOf(app, { query, sort_by: [{ field: 'created_at', direction: 'desc' }] }),
    ).toEqual(['c', 'a'])
  })

  it.each([
    [{ $in: [field('id'), [literal('a'), literal('c')]] }, ['a', 'c']],
    [
      { $or: [{ $eq: [field('id'), literal('b')] }, { $eq: [literal('a'), field('id')] }] },
      ['a', 'b'],
    ],
    [{ $and: [{ $eq: [field('id'), literal('a')] }, { $eq: [field('id'), literal('b')] }] }, []],
    [{ $not: [{ $eq: [field('id'), literal('a')] }] }, ['b', 'c']],
    [{ $gt: [field('payload.score'), literal(0.4)] }, ['b', 'c']],
    [
      {
        $contains: { input: field('payload.text'), substr: literal('HEL'), case_insensitive: true },
      },
      ['a'],
    ],
    [{ $eq: [field('payload.flag'), literal(null)] }, ['a', 'b']],
    [{ $convert: { input: field('payload.flag'), to: 'exists' } }, ['c']],
    [{ $gte: [field('created_at'), literal('2020-01-01T00:00:00Z')] }, ['a', 'b', 'c']],
    [{ $eq: [literal(1), literal(1)] }, ['a', 'b', 'c']],
    [{ $gt: [{ $size: field('scorer_tags') }, literal(0)] }, ['b']],
    [{ $eq: [{ $size: field('payload.list') }, literal(2)] }, ['c']],
  ])('keeps the query language: %j', async ($expr, expected) => {
    const app = await buildTestApp()
    await store(
      app,
      { id: 'a', payload: { score: 0.1, text: 'hello' } },
      { id: 'b', payload: { score: 0.5 }, scorer_tags: ['x'] },
      { id: 'c', payload: { score: 0.9, flag: true, list: [0, 0] } },
    )
    expect(await idsOf(app, { query: { $expr } })).toEqual(expected)
  })

  it('pages like a plain reading of the rule, for any rows', async () => {
    const row = fc.record({
      score: fc.option(fc.integer({ min: 0, max: 3 })),
      kind: fc.constantFrom('x', 'y'),
    })
    const request = fc.record({
      kind: fc.constantFrom('x', null),
      direction: fc.constantFrom('asc' as const, 'desc' as const, null),
      offset: fc.integer({ min: 0, max: 4 }),
      limit: fc.integer({ min: 0, max: 5 }),
    })
    const app = await buildTestApp({ dataDir: makeTempDir() })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 12 }), request, async (rows, asked) => {
        run += 1
        const project_id = `acme/run-${run}`
        const stored = rows.map(({ score, kind }, index) => ({
          project_id,
          id: `f${index}`,
          feedback_type: kind,
          payload: { score },
        }))
        await store(app, ...stored)
        const { kind, direction, offset, limit } = asked
        const wanted = stored.filter(({ feedback_type }) => kind === null || feedback_type === kind)
        const sign = direction === 'desc' ? -1 : 1
        const sorted = wanted.toSorted(({ payload: { score: a } }, { payload: { score: b } }) => {
          if (direction === null || a === b) return 0
          if (a === null || b === null) return a === null ? 1 : -1
          return (a - b) * sign
        })
        const found = await idsOf(app, {
          project_id,
          offset,
          limit,
          ...(kind ? { query: { $expr: { $eq: [field('feedback_type'), literal(kind)] } } } : {}),
          ...(direction ? { sort_by: [{ field: 'payload.score', direction }] } : {}),
        })
        expect(found).toEqual(sorted.slice(offset, offset + limit).map(({ id }) => id))
      }),
      { numRuns: 25 },
    )
  })

  it('sees no other project', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'a' }, { id: 'b', project_id: 'acme/other' })
    expect(await idsOf(app, {})).toEqual(['a'])
    const { status, body } = await app.post(URL, PROJECT, {
      key: await app.createKey({ projects: ['acme/other'] }),
    })
    expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
  })

  it.each([
    ['project_id', [undefined, null, 1, 'acme']],
    ['fields', ['id', [1], [''], Array.from({ length: 101 }, () => 'id')]],
    ['query', ['x', 1, [], {}]],
    ['sort_by', ['id', [1], [{ field: 'id' }], [{ field: 'id', direction: 'up' }]]],
    ['limit', ['1', -1, 1.5, 10_001]],
    ['offset', ['1', -1, 1.5, 100_001]],
    ['more', [1]],
  ])('refuses a bad %s', async (name, values) => {
    const { post } = await buildTestApp()
    for (const value of values) {
      const { status, body } = await post(URL, { ...PROJECT, [name]: value })
      expect([status, body.error?.type], JSON.stringify(value)).toEqual([
        422,
        'invalid_request_error',
      ])
      expect(body.error.param).toMatch(new RegExp(`^${name}`))
    }
  })

  it.each([
    [{ fields: ['secret'] }, 'fields[0]'],
    [{ fields: ['id', 'count(*)'] }, 'fields[1]'],
    [{ sort_by: [{ field: 'feedback_key', direction: 'asc' }] }, 'sort_by[0].field'],
    [
      { query: { $expr: { $eq: [field('payload_json'), literal(1)] } } },
      'query.$expr.$eq[0].$getField',
    ],
    [{ query: { $expr: { $near: [] } } }, 'query.$expr'],
  ])('answers query_invalid for %j', async (request, param) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(URL, { ...PROJECT, ...request })
    expect([status, body.error?.code, body.error?.param]).toEqual([422, 'query_invalid', param])
  })

  it('refuses to write out more than its limit at once', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const payload = { text: 'x'.repeat(1_000_000) }
    const items = Array.from({ length: 17 }, (_, index) => ({ id: `f${index}`, payload }))
    await store(app, ...items)
    const { status, body } = await app.post(URL, PROJECT)
    expect([status, body.error.param]).toEqual([422, 'limit'])
    expect(await idsOf(app, {})).toHaveLength(17)
    expect(await find(app, { limit: 2 })).toHaveLength(2)
  })
})

describe('POST /traces/feedback/query', () => {
  it('uses the vendor’s names in rows and queries, except in payloads', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'f', payload: { svc_user_id: 'mine', wb_user_id: 'theirs' } })
    const { body } = await app.post(`/traces${URL}`, {
      ...PROJECT,
      fields: ['wb_user_id', 'payload'],
      query: { $expr: { $eq: [field('wb_user_id'), literal('u-1')] } },
      sort_by: [{ field: 'wb_user_id', direction: 'asc' }],
    })
    expect(body.result).toEqual([
      { wb_user_id: 'u-1', payload: { svc_user_id: 'mine', wb_user_id: 'theirs' } },
    ])
  })
})

describe('POST /feedback/purge', () => {
  const url = '/feedback/purge'
  const isId = (id: string) => ({ $eq: [field('id'), literal(id)] })
  itRefusesBadRequests({
    url,
    body: { ...PROJECT, query: { $expr: isId('f') } },
    scope: 'traces:write',
  })

  it.each([
    [isId('a'), ['b', 'c']],
    [{ $or: [isId('a'), isId('c')] }, ['b']],
    [{ $in: [field('id'), [literal('a'), literal('b')]] }, ['c']],
    [isId('unknown'), ['a', 'b', 'c']],
  ])('removes what is named: %j', async ($expr, left) => {
    const app = await buildTestApp()
    await store(app, { id: 'a' }, { id: 'b' }, { id: 'c' })
    const { status, body } = await app.post(url, { ...PROJECT, query: { $expr } })
    expect([status, body]).toEqual([200, {}])
    expect(await idsOf(app, {})).toEqual(left)
  })

  it('removes nothing of another project', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'a' })
    await app.post(url, { project_id: 'acme/other', query: { $expr: isId('a') } })
    expect(await idsOf(app, {})).toEqual(['a'])
  })

  it.each([
    { $expr: { $eq: [field('feedback_type'), literal('custom')] } },
    { $expr: { $eq: [field('id'), literal(1)] } },
    { $expr: { $eq: [literal('a'), field('id')] } },
    { $expr: { $or: [] } },
    { $expr: { $or: [isId('a'), { $not: [isId('b')] }] } },
    { $expr: { $in: [field('id'), []] } },
    { $expr: {} },
    {},
    null,
  ])('refuses every other query: %j', async (query) => {
    const app = await buildTestApp()
    await store(app, { id: 'a' })
    const { status, body } = await app.post(url, { ...PROJECT, query })
    expect([status, body.error?.code]).toEqual([422, 'validation_failed'])
    expect(body.error.param).toMatch(/^query/)
    expect(await idsOf(app, {})).toEqual(['a'])
  })
})

describe('POST /feedback/replace', () => {
  const url = '/feedback/replace'
  itRefusesBadRequests({ url, body: { ...FEEDBACK, feedback_id: 'f' }, scope: 'traces:write' })

  it('puts feedback in the place of another', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'old' }, { id: 'other' })
    const { status, body } = await app.post(url, {
      ...FEEDBACK,
      id: 'new',
      feedback_id: 'old',
      payload: { score: 1 },
    })
    expect([status, body.id, body.payload]).toEqual([200, 'new', { score: 1 }])
    expect((await idsOf(app, {})).sort()).toEqual(['new', 'other'])
  })

  it('may keep the id, and changes nothing when it is sent again', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'f' })
    const again = { ...FEEDBACK, id: 'f', feedback_id: 'f', payload: { score: 1 } }
    await app.post(url, again)
    const moved = { ...again, id: 'g' }
    const first = await app.post(url, moved)
    const second = await app.post(url, moved)
    expect([first.status, second.body]).toEqual([200, first.body])
    expect(await find(app, { fields: ['id', 'payload.score'] })).toEqual([
      { id: 'g', 'payload.score': 1 },
    ])
  })

  it('answers feedback_not_found for unknown and foreign feedback', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'f', project_id: 'acme/other' })
    const { status, body } = await app.post(url, { ...FEEDBACK, feedback_id: 'f' })
    expect([status, body.error.code, body.error.param]).toEqual([
      404,
      'feedback_not_found',
      'feedback_id',
    ])
    expect(await idsOf(app, {})).toEqual([])
  })

  it('keeps the old one when the new id is taken', async () => {
    const app = await buildTestApp()
    await store(app, { id: 'old' }, { id: 'taken', payload: { x: 1 } })
    const { status, body } = await app.post(url, { ...FEEDBACK, id: 'taken', feedback_id: 'old' })
    expect([status, body.error.code]).toEqual([409, 'feedback_conflict'])
    expect(await idsOf(app, {})).toEqual(['old', 'taken'])
  })

  it.each([undefined, null, 1, '', ' '])('refuses the feedback_id %j', async (feedback_id) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(url, { ...FEEDBACK, feedback_id })
    expect([status, body.error.param]).toEqual([422, 'feedback_id'])
  })
})
