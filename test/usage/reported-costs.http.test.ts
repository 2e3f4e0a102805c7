import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = { project_id: 'acme/demo' }
const AT = '2026-11-01T10:00:00Z'
const WINDOW = { start: AT, end: '2026-11-01T11:00:00Z', granularity: 3600 }

interface Sample {
  readonly id: string
  readonly parent_id?: string
  readonly usage: Record<string, object>
}

async function record(app: TestApp, ...calls: Sample[]) {
  for (const { usage, ...call } of calls) {
    const fields = { trace_id: 't', op_name: 'o', started_at: AT, attributes: {}, inputs: {} }
    await app.post('/call/start', { start: { ...PROJECT, ...fields, ...call } })
    const end = { ...PROJECT, id: call.id, ended_at: AT, summary: { usage } }
    expect((await app.post('/call/end', { end })).status).toBe(200)
  }
}

async function statsOf(app: TestApp, options: object = {}) {
  const metrics = ['input_cost', 'output_cost', 'total_cost'].map((metric) => ({
    metric,
    ...options,
  }))
  const { body, headers } = await app.post('/calls/stats', {
    ...PROJECT,
    ...WINDOW,
    usage_metrics: metrics,
  })
  const buckets: Record<string, unknown>[] = body.usage_buckets
  return {
    totals: Object.fromEntries(buckets.map((bucket) => [bucket.model, bucket.sum_total_cost])),
    buckets,
    unpriced: headers['x-weft-unpriced-models'],
    reported: headers['x-weft-reported-cost-models'],
  }
}

describe('a cost that a client reports', () => {
  it.each([{}, { percentiles: [50] }])(
    'is the total cost of a model without a price, and not that of one with a price (%j)',
    async (options) => {
      const app = await buildTestApp()
      await record(
        app,
        { id: 'a', usage: { mystery: { requests: 1, prompt_tokens: 9, cost: 0.25 } } },
        { id: 'b', usage: { mystery: { requests: 1, prompt_tokens: 1, cost: 0.5 } } },
        { id: 'c', usage: { 'gpt-4o': { requests: 1, prompt_tokens: 1_000_000, cost: 99 } } },
        { id: 'd', usage: { other: { requests: 1, prompt_tokens: 1 } } },
      )
      const found = await statsOf(app, options)
      expect(found.totals).toEqual({ 'gpt-4o': 2.5, mystery: 0.75, other: null })
      const mystery = found.buckets.find(({ model }) => model === 'mystery')
      expect(mystery).toMatchObject({ sum_input_cost: null, sum_output_cost: null })
      expect([found.unpriced, found.reported]).toEqual(['other', 'mystery'])
    },
  )

  it('stands beside the computed one in a call, and alone, marked, where there is no price', async () => {
    const app = await buildTestApp()
    const usage = {
      'gpt-4o': { prompt_tokens: 1_000_000, cost: 9 },
      mystery: { prompt_tokens: 7, cost: 0.25 },
      odd: { prompt_tokens: 7, cost: 'much' },
    }
    await record(app, { id: 'a', usage })
    const { body } = await app.post('/call/read', { ...PROJECT, id: 'a', include_costs: true })
    expect(body.call.summary.usage).toEqual(usage)
    const { costs, total_cost, usage_problems } = body.call.summary.weave
    expect(costs['gpt-4o']).toMatchObject({
      prompt_tokens_total_cost: 2.5,
      reported_cost: 9,
      pricing_level: 'default',
    })
    expect(costs.mystery).toEqual({
      prompt_tokens: 7,
      completion_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      total_tokens: 7,
      requests: 1,
      reported_cost: 0.25,
      pricing_level: 'reported',
    })
    expect(costs.odd).toBeUndefined()
    expect(total_cost).toBe(2.75)
    expect(usage_problems).toEqual(['odd: cost is no amount from 0 to 1000000 US dollars'])
  })

  it('counts once where a parent adds up the reports of its children, in any order of arrival', async () => {
    const child = (id: string, cost: number) => ({
      id,
      parent_id: 'root',
      usage: { m: { requests: 1, prompt_tokens: 5, cost } },
    })
    const root = { id: 'root', usage: { m: { requests: 2, prompt_tokens: 10, cost: 0.3 } } }
    for (const calls of [
      [root, child('a', 0.1), child('b', 0.2)],
      [child('a', 0.1), child('b', 0.2), root],
    ]) {
      const app = await buildTestApp()
      await record(app, ...calls)
      expect((await statsOf(app)).totals).toEqual({ m: 0.3 })
      const usage = await app.post('/calls/usage', {
        ...PROJECT,
        call_ids: ['root'],
        include_costs: true,
      })
      expect(usage.body.call_usage.root.m).toMatchObject({
        requests: 2,
        reported_cost: 0.3,
        prompt_tokens_total_cost: null,
      })
    }
  })

  it('gives way to a price that the project sets', async () => {
    const app = await buildTestApp()
    await record(app, { id: 'a', usage: { m: { prompt_tokens: 10, cost: 0.3 } } })
    const price = { prompt_token_cost: 1, completion_token_cost: 0, effective_date: AT }
    await app.post('/cost/create', { ...PROJECT, costs: { m: price } })
    const found = await statsOf(app)
    expect([found.totals, found.reported]).toEqual([{ m: 10 }, undefined])
  })

  it('prices a tier of service and the name at an upstream in statistics as in a call', async () => {
    const app = await buildTestApp()
    const tokens = { prompt_tokens: 1_000_000, provider: 'openai' }
    await record(
      app,
      { id: 'a', usage: { 'gpt-4o': { ...tokens, service_tier: 'batch' } } },
      { id: 'b', usage: { 'gpt-4o': { ...tokens, service_tier: 'default' } } },
      { id: 'c', usage: { mine: { ...tokens, upstream_model: 'gpt-4o' } } },
    )
    expect((await statsOf(app)).totals).toEqual({ 'gpt-4o': 3.75, mine: 2.5 })
  })
})
