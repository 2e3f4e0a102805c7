import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const PROJECT = { project_id: 'acme/demo' }
const PRICE = { prompt_token_cost: 0.001, completion_token_cost: 0.0025 }
const CREATE = { ...PROJECT, costs: { m: PRICE } }
const isId = (id: string) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })

async function list(app: TestApp, request: object = {}) {
  const { status, body } = await app.post('/cost/query', { ...PROJECT, ...request })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.results
}

async function create(app: TestApp, costs: object, project_id = 'acme/demo'): Promise<string[]> {
  const { status, body } = await app.post('/cost/create', { project_id, costs })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.ids.map(([id]: [string]) => id)
}

/** Records a call with the usage and gives its costs as a read and as statistics tell them. */
async function priceCall(app: TestApp, usage: object) {
  const started_at = '2026-01-01T10:00:00Z'
  const id = `c-${Object.keys(usage).join()}`
  const start = { ...PROJECT, id, op_name: 'o', started_at, attributes: {}, inputs: {} }
  await app.post('/call/start', { start })
  const end = { ...PROJECT, id, ended_at: started_at, summary: { usage } }
  await app.post('/call/end', { end })
  return readCosts(app, id, started_at)
}

async function readCosts(app: TestApp, id: string, started_at: string) {
  const { body } = await app.post('/call/read', { ...PROJECT, id, include_costs: true })
  const { body: stats } = await app.post('/calls/stats', {
    ...PROJECT,
    start: started_at,
    end: new Date(Date.parse(started_at) + 1000).toISOString(),
    filter: { call_ids: [id] },
    usage_metrics: [{ metric: 'total_cost' }],
  })
  const buckets: { model: string; sum_total_cost: number }[] = stats.usage_buckets
  return {
    id,
    costs: body.call.summary.weave.costs,
    total: Object.fromEntries(buckets.map(({ model, sum_total_cost }) => [model, sum_total_cost])),
  }
}

const TOKENS = { prompt_tokens: 1000, completion_tokens: 100 }

describe('POST /cost/create', () => {
  itRefusesBadRequests({ url: '/cost/create', body: CREATE, scope: 'traces:write' })

  it('stores prices that queries give back', async () => {
    const app = await buildTestApp()
    const full = {
      ...PRICE,
      cache_read_input_token_cost: 0.0001,
      cache_creation_input_token_cost: 0,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: null,
      effective_date: '2026-01-01T01:00:00+01:00',
      provider_id: 'own',
    }
    const ids = await create(app, { 'a/b': full, m: PRICE })
    const [first, second] = await list(app)
    expect(first).toEqual({
      ...full,
      id: ids[0],
      llm_id: 'a/b',
      completion_token_cost_unit: 'USD',
      effective_date: '2026-01-01T00:00:00.000000Z',
    })
    expect(second).toMatchObject({ id: ids[1], llm_id: 'm', provider_id: 'default' })
    expect(second.cache_read_input_token_cost).toBeNull()
    expect(Math.abs(Date.parse(second.effective_date) - Date.now())).toBeLessThan(60_000)
  })

  it.each([2.5e-7, 1e-15, 0.1, 3, 123.456, 1_000_000, 0])('keeps the price %d', async (price) => {
    const app = await buildTestApp()
    await create(app, { m: { prompt_token_cost: price, completion_token_cost: 0 } })
    expect((await list(app))[0].prompt_token_cost).toBe(price)
  })

  it.each([
    ['project_id', { costs: { m: PRICE } }],
    ['project_id', { ...CREATE, project_id: 'acme' }],
    ['costs', PROJECT],
    ['costs', { ...PROJECT, costs: [] }],
    ['costs', { ...PROJECT, costs: { '': PRICE } }],
    ['costs', { ...PROJECT, costs: { ['x'.repeat(257)]: PRICE } }],
    ['costs.m', { ...PROJECT, costs: { m: null } }],
    ['costs.m.prompt_token_cost', { ...PROJECT, costs: { m: { completion_token_cost: 1 } } }],
    ['costs.m.completion_token_cost', { ...PROJECT, costs: { m: { prompt_token_cost: 1 } } }],
    ...['prompt_token_cost', 'completion_token_cost', 'cache_read_input_token_cost'].flatMap(
      (name) =>
        ['1', -1, 1_000_001, {}].map((value): [string, object] => [
          `costs.m.${name}`,
          { ...PROJECT, costs: { m: { ...PRICE, [name]: value } } },
        ]),
    ),
    ['costs.m.prompt_token_cost_unit', costWith({ prompt_token_cost_unit: 'EUR' })],
    ['costs.m.completion_token_cost_unit', costWith({ completion_token_cost_unit: 1 })],
    ['costs.m.effective_date', costWith({ effective_date: 'today' })],
    ['costs.m.provider_id', costWith({ provider_id: '' })],
    ['costs.m.more', costWith({ more: 1 })],
    ['more', { ...CREATE, more: 1 }],
  ])('refuses a bad %s and stores nothing', async (param, body) => {
    const app = await buildTestApp()
    const answer = await app.post('/cost/create', body)
    expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([
      422,
      'validation_failed',
      param,
    ])
    expect(await list(app)).toEqual([])
  })

  it('refuses a key of another project', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ projects: ['acme/other'] })
    const { status, body } = await app.post('/cost/create', CREATE, { key })
    expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    expect(await list(app)).toEqual([])
  })

  it('refuses more prices than a project may have, and none of the request is stored', async () => {
    const app = await buildTestApp()
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`m${at}`, PRICE]))
    for (let round = 0; round < 10; round++) await create(app, many)
    const { status, body } = await app.post('/cost/create', CREATE)
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', 'costs'])
    const query = { $expr: { $eq: [{ $getField: 'llm_id' }, { $literal: 'm' }] } }
    expect(await list(app, { query })).toEqual([])
  })
})

function costWith(fields: object) {
  return { ...PROJECT, costs: { m: { ...PRICE, ...fields } } }
}

describe('POST /cost/query', () => {
  itRefusesBadRequests({ url: '/cost/query', body: PROJECT, scope: 'traces:read' })

  it('filters, sorts, pages and narrows', async () => {
    const app = await buildTestApp()
    await create(app, { a: PRICE, b: { ...PRICE, prompt_token_cost: 2 }, c: PRICE })
    const query = { $expr: { $lt: [{ $getField: 'prompt_token_cost' }, { $literal: 1 }] } }
    const sort_by = [{ field: 'llm_id', direction: 'desc' }]
    expect(await list(app, { query, sort_by, fields: ['llm_id'] })).toEqual([
      { llm_id: 'c' },
      { llm_id: 'a' },
    ])
    expect(await list(app, { sort_by, offset: 1, limit: 1, fields: ['llm_id'] })).toEqual([
      { llm_id: 'b' },
    ])
    const always = { $expr: { $eq: [{ $literal: '1' }, { $literal: '1' }] } }
    expect(await list(app, { query: always })).toHaveLength(3)
  })

  it('finds prices by their date', async () => {
    const app = await buildTestApp()
    await create(app, { a: { ...PRICE, effective_date: '2026-01-01T00:00:00Z' } })
    const since = (date: string) => ({
      $expr: { $gte: [{ $getField: 'effective_date' }, { $literal: date }] },
    })
    expect(await list(app, { query: since('2025-12-31T23:00:00-01:00') })).toHaveLength(1)
    expect(await list(app, { query: since('2026-01-02T00:00:00Z') })).toHaveLength(0)
  })

  it('sees no other project', async () => {
    const app = await buildTestApp()
    await create(app, { m: PRICE }, 'acme/other')
    expect(await list(app)).toEqual([])
  })

  it.each([
    [{ fields: ['price_key'] }, 'fields[0]'],
    [
      { query: { $expr: { $eq: [{ $getField: 'price_key' }, { $literal: 1 }] } } },
      'query.$expr.$eq[0].$getField',
    ],
  ])('answers query_invalid for %j', async (request, param) => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/cost/query', { ...PROJECT, ...request })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'query_invalid', param])
  })
})

describe('POST /cost/purge', () => {
  itRefusesBadRequests({
    url: '/cost/purge',
    body: { ...PROJECT, query: { $expr: isId('p') } },
    scope: 'traces:write',
  })

  it('removes what is named, only in its project', async () => {
    const app = await buildTestApp()
    const [first = '', second = ''] = await create(app, { a: PRICE, b: PRICE })
    const query = { $expr: { $in: [{ $getField: 'id' }, [{ $literal: first }]] } }
    await app.post('/cost/purge', { project_id: 'acme/other', query })
    expect(await list(app)).toHaveLength(2)
    const { status, body } = await app.post('/cost/purge', { ...PROJECT, query })
    expect([status, body]).toEqual([200, {}])
    expect((await list(app)).map(({ id }: { id: string }) => id)).toEqual([second])
  })

  it('refuses to purge by anything but ids', async () => {
    const app = await buildTestApp()
    await create(app, { m: PRICE })
    const $expr = { $eq: [{ $getField: 'llm_id' }, { $literal: 'm' }] }
    const { status } = await app.post('/cost/purge', { ...PROJECT, query: { $expr } })
    expect(status).toBe(422)
    expect(await list(app)).toHaveLength(1)
  })
})

describe('the prices of a project', () => {
  it('price what the package does not know, at once and in every thread', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const before = await priceCall(app, { mystery: TOKENS })
    expect(before.costs).toBeUndefined()
    expect(before.total).toEqual({ mystery: null })
    const [id = ''] = await create(app, {
      mystery: { ...PRICE, effective_date: '2025-01-01T00:00:00Z' },
    })
    const after = await readCosts(app, before.id, '2026-01-01T10:00:00Z')
    expect(after.costs.mystery).toMatchObject({
      prompt_tokens_total_cost: 1,
      completion_tokens_total_cost: 0.25,
      prompt_token_cost: 0.001,
      provider_id: 'default',
      pricing_level: 'project',
      pricing_level_id: 'acme/demo',
      created_by: 'u-1',
      effective_date: '2025-01-01T00:00:00.000000Z',
    })
    expect(after.total).toEqual({ mystery: 1.25 })
    await app.post('/cost/purge', { ...PROJECT, query: { $expr: isId(id) } })
    expect((await readCosts(app, before.id, '2026-01-01T10:00:00Z')).total).toEqual({
      mystery: null,
    })
  })

  it('come before the defaults, and only in their project', async () => {
    const app = await buildTestApp()
    await create(app, { 'gpt-4o': { ...PRICE, effective_date: '2020-01-01T00:00:00Z' } })
    expect((await priceCall(app, { 'gpt-4o': TOKENS })).total).toEqual({ 'gpt-4o': 1.25 })
    await create(
      app,
      { 'gpt-4o-mini': { ...PRICE, effective_date: '2020-01-01T00:00:00Z' } },
      'a/b',
    )
    const { costs } = await priceCall(app, { 'gpt-4o-mini': TOKENS })
    expect(costs['gpt-4o-mini'].pricing_level).toBe('default')
  })

  it('pay cached tokens at their own price, or at that of the input', async () => {
    const app = await buildTestApp()
    const since = { effective_date: '2020-01-01T00:00:00Z' }
    await create(app, {
      a: { ...PRICE, ...since, cache_read_input_token_cost: 0.0005 },
      b: { ...PRICE, ...since },
      c: { ...PRICE, ...since, cache_read_input_token_cost: 0, cache_creation_input_token_cost: 0 },
    })
    const usage = { input_tokens: 100, cache_read_input_tokens: 1000 }
    const { total } = await priceCall(app, { a: usage, b: usage, c: usage })
    expect(total).toEqual({ a: 0.6, b: 1.1, c: 0.1 })
  })
})

describe('POST /traces/cost/create', () => {
  it('drops what it does not know, and takes the body that SDKs send', async () => {
    const app = await buildTestApp()
    const { status, body } = await app.post('/traces/cost/create', {
      ...PROJECT,
      wb_user_id: null,
      costs: { wb_user_id: { ...PRICE, pricing_level: 'project' } },
    })
    expect([status, body.ids.length]).toEqual([200, 1])
    const { body: found } = await app.post('/traces/cost/query', { ...PROJECT, fields: null })
    expect(found.results[0].llm_id).toBe('wb_user_id')
  })
})
