import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const PROJECT = { project_id: 'acme/demo' }
const AT = '2026-01-01T10:00:00Z'

interface SampleCall {
  readonly id: string
  readonly parent_id?: string
  readonly trace_id?: string
  readonly op_name?: string
  /** Input tokens of one request, or a report, by model; null leaves the call running. */
  readonly usage?: Record<string, number | Record<string, number>> | null
  readonly exception?: string
}

async function record(app: TestApp, ...calls: SampleCall[]): Promise<void> {
  for (const { usage = {}, exception, ...call } of calls) {
    const start = {
      ...PROJECT,
      trace_id: 't',
      op_name: 'o',
      started_at: AT,
      attributes: {},
      inputs: {},
      ...call,
    }
    const { status, text } = await app.post('/call/start', { start })
    if (status !== 200) throw new Error(text)
    if (usage === null) continue
    const entries = Object.entries(usage).map(([model, counts]) => [
      model,
      typeof counts === 'number' ? { requests: 1, prompt_tokens: counts } : counts,
    ])
    const summary = { usage: Object.fromEntries(entries) }
    const end = { ...PROJECT, id: call.id, ended_at: AT, summary, exception }
    await app.post('/call/end', { end })
  }
}

/** Input tokens by call and model. */
async function tokens(app: TestApp, url: string, request: object) {
  const { status, body } = await app.post(url, { ...PROJECT, ...request })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const usage: Record<string, Record<string, { prompt_tokens: number }>> = body.call_usage
  return Object.fromEntries(
    Object.entries(usage).map(([id, models]) => [
      id,
      Object.fromEntries(Object.entries(models).map(([model, sum]) => [model, sum.prompt_tokens])),
    ]),
  )
}

const TREE: SampleCall[] = [
  { id: 'root' },
  { id: 'a', parent_id: 'root', usage: { m: 10 } },
  { id: 'b', parent_id: 'root' },
  { id: 'c', parent_id: 'b', usage: { m: 5, n: 7 } },
]

describe('POST /trace/usage', () => {
  const url = '/trace/usage'
  itRefusesBadRequests({ url, body: PROJECT, scope: 'traces:read' })

  it('adds up tokens exactly, beyond 2^53', async () => {
    const app = await buildTestApp()
    const huge = { prompt_tokens: 2 ** 53 - 1, completion_tokens: 1 }
    await record(app, { id: 'root', usage: { m: 10 } })
    await record(app, { id: 'a', parent_id: 'root', usage: { m: huge } })
    const sum = { m: 2 ** 53 + 8 }
    expect(await tokens(app, url, {})).toEqual({ root: sum, a: { m: 2 ** 53 - 1 } })
    expect(await tokens(app, '/calls/usage', { call_ids: ['root'] })).toEqual({ root: sum })
  })

  it('gives every call its usage with that of its descendants', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    await record(app, ...TREE, { id: 'other', trace_id: 'u', usage: { m: 1 } })
    expect(await tokens(app, url, { filter: { trace_ids: ['t'] } })).toEqual({
      root: { m: 15, n: 7 },
      a: { m: 10 },
      b: { m: 5, n: 7 },
      c: { m: 5, n: 7 },
    })
  })

  it('counts once what an SDK has added to the summaries of parents', async () => {
    const app = await buildTestApp()
    await record(
      app,
      { id: 'root', usage: { m: { requests: 3, prompt_tokens: 18 } } },
      { id: 'a', parent_id: 'root', usage: { m: 10 } },
      { id: 'b', parent_id: 'root', usage: { m: 5 } },
    )
    expect(await tokens(app, url, {})).toMatchObject({ root: { m: 18 } })
    const reported = await tokens(app, url, { usage_counting: 'reported' })
    expect(reported).toMatchObject({ root: { m: 33 } })
    const { body } = await app.post(url, { ...PROJECT, usage_counting: 'reported' })
    expect(body.usage_counting).toBe('reported')
  })

  it('adds what parents made by hand used themselves', async () => {
    const app = await buildTestApp()
    const report = (prompt_tokens: number, completion_tokens: number) => ({
      m: { prompt_tokens, completion_tokens },
    })
    await record(
      app,
      { id: 'root', usage: report(5, 5) },
      { id: 'a', parent_id: 'root', usage: report(2, 1) },
      { id: 'b', parent_id: 'root', usage: report(3, 1) },
    )
    const { body } = await app.post(url, PROJECT)
    expect(body.usage_counting).toBe('own')
    expect(body.call_usage.root.m).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 7,
      total_tokens: 17,
      requests: 3,
    })
  })

  it('keeps what a call in the middle used itself below a root without usage', async () => {
    const app = await buildTestApp()
    await record(
      app,
      { id: 'root' },
      { id: 'middle', parent_id: 'root', usage: { m: { requests: 2, prompt_tokens: 9 } } },
      { id: 'leaf', parent_id: 'middle', usage: { m: 4 } },
    )
    const counted = { root: { m: 9 }, middle: { m: 9 }, leaf: { m: 4 } }
    expect(await tokens(app, url, {})).toEqual(counted)
    expect(await tokens(app, url, { filter: { call_ids: ['middle'] } })).toEqual({
      middle: { m: 9 },
    })
  })

  it('adds up requests, total tokens and costs', async () => {
    const app = await buildTestApp()
    await record(app, ...TREE)
    await app.post('/cost/create', {
      ...PROJECT,
      costs: {
        m: {
          prompt_token_cost: 0.1,
          completion_token_cost: 0,
          effective_date: '2020-01-01T00:00:00Z',
        },
      },
    })
    const { body } = await app.post(url, { ...PROJECT, include_costs: true })
    expect(body.call_usage.root).toEqual({
      m: {
        requests: 2,
        prompt_tokens: 15,
        completion_tokens: 0,
        total_tokens: 15,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        prompt_tokens_total_cost: 1.5,
        completion_tokens_total_cost: 0,
        cache_read_input_tokens_total_cost: 0,
        cache_creation_input_tokens_total_cost: 0,
        reported_cost: null,
      },
      n: expect.objectContaining({ prompt_tokens: 7, prompt_tokens_total_cost: null }),
    })
    const without = await app.post(url, PROJECT)
    expect(without.body.call_usage.root.m.prompt_tokens_total_cost).toBeNull()
  })

  it('names calls that still run, and leaves deleted ones out', async () => {
    const app = await buildTestApp()
    await record(app, ...TREE, { id: 'running', parent_id: 'a', usage: null })
    await app.post('/calls/delete', { ...PROJECT, call_ids: ['b'] })
    const { body } = await app.post(url, PROJECT)
    expect(body.unfinished_call_ids).toEqual(['running'])
    expect(Object.keys(body.call_usage).sort()).toEqual(['a', 'root', 'running'])
  })

  it('takes a condition over the narrow fields of calls', async () => {
    const app = await buildTestApp()
    await record(app, { id: 'x', op_name: 'keep', usage: { m: 1 } }, { id: 'y', usage: { m: 2 } })
    const query = { $expr: { $eq: [{ $getField: 'op_name' }, { $literal: 'keep' }] } }
    expect(await tokens(app, url, { query })).toEqual({ x: { m: 1 } })
  })

  it('refuses to leave calls out', async () => {
    const app = await buildTestApp()
    await record(app, ...TREE)
    const { status, body } = await app.post(url, { ...PROJECT, limit: 3 })
    expect([status, body.error.param]).toEqual([422, 'limit'])
    expect(Object.keys(await tokens(app, url, { limit: 4 }))).toHaveLength(4)
  })

  it('counts the failed calls below each, as POST /calls/usage does for the named calls', async () => {
    const app = await buildTestApp()
    const exception = 'refused'
    const failed = [
      { id: 'd', parent_id: 'c', exception },
      { id: 'e', parent_id: 'root', exception },
    ]
    await record(app, ...TREE, ...failed, { id: 'f', parent_id: 'd', exception })
    const { body } = await app.post(url, PROJECT)
    expect(body.failed_descendants).toEqual({ root: 3, b: 2, c: 2, d: 1 })
    const named = await app.post('/calls/usage', { ...PROJECT, call_ids: ['b', 'a'] })
    expect(named.body.failed_descendants).toEqual({ b: 2 })
  })

  it('ends over calls that call each other, of which none is below itself', async () => {
    const app = await buildTestApp()
    const exception = 'refused'
    await record(
      app,
      { id: 'a', parent_id: 'b', usage: { m: 1 } },
      { id: 'b', parent_id: 'a', usage: { m: 2 } },
      { id: 'self', parent_id: 'self', usage: { m: 4 }, exception },
    )
    const { body } = await app.post(url, { ...PROJECT, filter: { call_ids: ['self'] } })
    expect(body.failed_descendants).toEqual({})
    expect(await tokens(app, url, { filter: { call_ids: ['self'] } })).toEqual({ self: { m: 4 } })
    expect(Object.keys(await tokens(app, url, {})).sort()).toEqual(['a', 'b', 'self'])
  })

  it.each([
    ['project_id', {}],
    ['filter', { ...PROJECT, filter: 1 }],
    ['filter.more', { ...PROJECT, filter: { more: 1 } }],
    ['query', { ...PROJECT, query: [] }],
    ['include_costs', { ...PROJECT, include_costs: 'yes' }],
    ['limit', { ...PROJECT, limit: 0 }],
    ['limit', { ...PROJECT, limit: 50_001 }],
    ['usage_counting', { ...PROJECT, usage_counting: 'once' }],
    ['more', { ...PROJECT, more: 1 }],
    [
      'query.$expr.$eq[0].$getField',
      { ...PROJECT, query: { $expr: { $eq: [{ $getField: 'inputs.x' }, { $literal: 1 }] } } },
    ],
  ])('refuses a bad %s', async (param, body) => {
    const { post } = await buildTestApp()
    const answer = await post(url, body)
    expect([answer.status, answer.body.error?.param]).toEqual([422, param])
  })
})

describe('POST /calls/usage', () => {
  const url = '/calls/usage'
  itRefusesBadRequests({ url, body: { ...PROJECT, call_ids: [] }, scope: 'traces:read' })

  it('gives the named calls alone, each with all of its descendants', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    await record(app, ...TREE, { id: 'other', trace_id: 'u', usage: { m: 1 } })
    expect(await tokens(app, url, { call_ids: ['b', 'other', 'unknown'] })).toEqual({
      b: { m: 5, n: 7 },
      other: { m: 1 },
      unknown: {},
    })
    expect(await tokens(app, url, { call_ids: [] })).toEqual({})
  })

  it('names what still runs below them, and nothing beside', async () => {
    const app = await buildTestApp()
    await record(app, ...TREE, { id: 'd', parent_id: 'c', usage: null })
    const unfinished = async (id: string) =>
      (await app.post(url, { ...PROJECT, call_ids: [id] })).body.unfinished_call_ids
    expect(await unfinished('b')).toEqual(['d'])
    expect(await unfinished('a')).toEqual([])
  })

  it('sees no other project', async () => {
    const app = await buildTestApp()
    await record(app, ...TREE)
    const request = { project_id: 'acme/other', call_ids: ['root'] }
    expect(await tokens(app, url, request)).toEqual({ root: {} })
    const key = await app.createKey({ projects: ['acme/other'] })
    const { status } = await app.post(url, { ...PROJECT, call_ids: ['root'] }, { key })
    expect(status).toBe(403)
  })

  it.each([
    ['project_id', { call_ids: [] }],
    ['call_ids', PROJECT],
    ['call_ids', { ...PROJECT, call_ids: 'a' }],
    ['call_ids[0]', { ...PROJECT, call_ids: [1] }],
    ['call_ids', { ...PROJECT, call_ids: Array.from({ length: 1001 }, () => 'a') }],
    ['limit', { ...PROJECT, call_ids: [], limit: 1.5 }],
    ['include_costs', { ...PROJECT, call_ids: [], include_costs: 1 }],
    ['more', { ...PROJECT, call_ids: [], more: 1 }],
  ])('refuses a bad %s', async (param, body) => {
    const { post } = await buildTestApp()
    const answer = await post(url, body)
    expect([answer.status, answer.body.error?.param]).toEqual([422, param])
  })
})
