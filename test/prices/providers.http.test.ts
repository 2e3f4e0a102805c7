import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = { project_id: 'acme/demo' }
const STARTED = '2026-11-01T10:00:00Z'
const MODEL = 'gpt-oss-120b'
/** A million tokens of input: dollars are those of the list. */
const TOKENS = { prompt_tokens: 1_000_000, completion_tokens: 0 }

async function record(app: TestApp, id: string, attributes: object, report: object = TOKENS) {
  const start = {
    ...PROJECT,
    id,
    trace_id: id,
    op_name: 'o',
    started_at: STARTED,
    attributes,
    inputs: {},
  }
  await app.post('/call/start', { start })
  const end = { ...PROJECT, id, ended_at: STARTED, summary: { usage: { [MODEL]: report } } }
  expect((await app.post('/call/end', { end })).status).toBe(200)
}

/** The cost of calls as statistics, a read and sums of usage have it. */
async function costsOf(app: TestApp, ids: readonly string[]) {
  const { body: stats, headers } = await app.post('/calls/stats', {
    ...PROJECT,
    start: STARTED,
    end: '2026-11-01T11:00:00Z',
    granularity: 3600,
    usage_metrics: [{ metric: 'total_cost' }],
  })
  const reads = await Promise.all(
    ids.map((id) => app.post('/call/read', { ...PROJECT, id, include_costs: true })),
  )
  const { body: usage } = await app.post('/calls/usage', {
    ...PROJECT,
    call_ids: ids,
    include_costs: true,
  })
  return {
    stats: stats.usage_buckets.map((bucket: Record<string, unknown>) => [
      bucket.model,
      bucket.sum_total_cost,
    ]),
    unpriced: headers['x-weft-unpriced-models'],
    reads: reads.map(({ body }) => body.call.summary.weave.total_cost),
    usage: ids.map((id) => usage.call_usage[id][MODEL].prompt_tokens_total_cost),
  }
}

describe('The cost of a model that several providers serve', () => {
  it('is that of the provider that the report names, summed in one bucket of the model', async () => {
    const app = await buildTestApp()
    await record(app, 'a', {}, { ...TOKENS, provider: 'cerebras' })
    await record(app, 'b', {}, { ...TOKENS, provider: 'fireworks_ai' })
    await record(app, 'c', {})
    expect(await costsOf(app, ['a', 'b', 'c'])).toMatchObject({
      stats: [[MODEL, 0.539]],
      reads: [0.35, 0.15, 0.039],
      usage: [0.35, 0.15, 0.039],
    })
  })

  it('is that of the provider that the attributes name, where the report names none', async () => {
    const app = await buildTestApp()
    await record(app, 'a', { integration: { name: 'cerebras' } })
    await record(app, 'b', { provider: 'fireworks' })
    await record(app, 'c', { provider: 'fireworks' }, { ...TOKENS, provider: 'cerebras' })
    expect(await costsOf(app, ['a', 'b', 'c'])).toMatchObject({
      stats: [[MODEL, 0.85]],
      reads: [0.35, 0.15, 0.35],
      usage: [0.35, 0.15, 0.35],
    })
  })

  it('is that of the project, whatever the provider', async () => {
    const app = await buildTestApp()
    const price = {
      prompt_token_cost: 1e-6,
      completion_token_cost: 0,
      effective_date: '2020-01-01T00:00:00Z',
    }
    await app.post('/cost/create', { ...PROJECT, costs: { [MODEL]: price } })
    await record(app, 'a', { provider: 'cerebras' })
    expect(await costsOf(app, ['a'])).toMatchObject({ stats: [[MODEL, 1]], reads: [1], usage: [1] })
  })

  it.each([7, '', ' ', 'x'.repeat(65), 'a\nb', null, ['groq']])(
    'is that of the name alone where the provider is %j',
    async (provider) => {
      const app = await buildTestApp()
      await record(app, 'a', { provider }, { ...TOKENS, provider })
      expect((await costsOf(app, ['a'])).reads).toEqual([0.039])
    },
  )
})
