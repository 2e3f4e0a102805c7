/** Statistics by groups of calls. What they sum up is proved in proof-random.prop.test.ts. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { ask, record } from './support/stats-fixtures.ts'

const used = (model: string, tokens: number) => ({
  summary: { usage: { [model]: { prompt_tokens: tokens, completion_tokens: 1 } } },
})

/** Two calls of hana, one of ben, and one of nobody, which runs. */
async function buildGroupedApp(): Promise<TestApp> {
  const app = await buildTestApp()
  const of = (user: string) => ({ attributes: { user } })
  await record(app, { id: 'c1', at: '10:01:00', start: of('hana'), end: used('gpt-4o', 1000) })
  await record(app, {
    id: 'c2',
    at: '10:00:30',
    start: of('hana'),
    end: { exception: 'openai.RateLimitError: slow down', ...used('mystery', 5) },
  })
  await record(app, {
    id: 'c3',
    start: of('ben'),
    end: { exception: 'openai.RateLimitError: 4 s left', ...used('gpt-4o', 3000) },
  })
  await record(app, { id: 'c4', end: null })
  return app
}

const METRICS = {
  call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
  usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
}

describe('POST /calls/stats with group_by', () => {
  it('lists the first groups by a metric, and all others as one', async () => {
    const app = await buildGroupedApp()
    const group_by = { field: 'end_user_id', sort_by: { field: 'sum_total_cost' }, limit: 1 }
    const { status, body, headers } = await ask(app, { ...METRICS, group_by })
    expect(status).toBe(200)
    expect(headers['x-weft-unpriced-models']).toBe('mystery')
    expect(body).toEqual({
      start: '2026-01-01T10:00:00.000000Z',
      end: '2026-01-01T10:10:00.000000Z',
      granularity: 300,
      timezone: 'UTC',
      usage_counting: 'own',
      usage_buckets: [],
      call_buckets: [],
      groups: [
        {
          group: 'ben',
          sum_call_count: 1,
          sum_error_count: 1,
          sum_total_tokens: 3001,
          sum_total_cost: 0.00751,
          count: 1,
        },
      ],
      other_groups: {
        groups: 2,
        sum_call_count: 3,
        sum_error_count: 1,
        sum_total_tokens: 1007,
        sum_total_cost: 0.00251,
        count: 3,
      },
    })
  })

  it('groups that have no known cost are last in both directions', async () => {
    const app = await buildGroupedApp()
    for (const direction of ['asc', 'desc']) {
      const sort_by = { field: 'sum_total_cost', direction }
      const { body } = await ask(app, { ...METRICS, group_by: { field: 'model', sort_by } })
      expect(body.groups.at(-1)).toMatchObject({ group: 'mystery', sum_total_cost: null })
    }
  })

  it('has the first and the last start of each group, as requested', async () => {
    const app = await buildGroupedApp()
    const group_by = { field: 'end_user_id', times: true, search: 'HAN' }
    const { body } = await ask(app, { ...METRICS, group_by })
    expect(body.other_groups).toBeNull()
    expect(body.groups).toMatchObject([
      {
        group: 'hana',
        first_started_at: '2026-01-01T10:00:30.000000Z',
        last_started_at: '2026-01-01T10:01:00.000000Z',
      },
    ])
  })

  it('counts failed calls by the type of their error', async () => {
    const app = await buildGroupedApp()
    const { body } = await ask(app, { group_by: { field: 'error_type' } })
    expect(body.groups).toEqual([{ group: 'openai.RateLimitError', sum_call_count: 2, count: 2 }])
  })

  it('counts calls without metrics, too', async () => {
    const app = await buildGroupedApp()
    const { body } = await ask(app, { call_metrics: null, group_by: { field: 'status' } })
    expect(body.groups).toEqual([
      { group: 'error', count: 2 },
      { group: 'running', count: 1 },
      { group: 'success', count: 1 },
    ])
  })

  it('counts a call once in each group, whether or not its start was built before its end came', async () => {
    const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100, segmentRowsMax: 1 })
    onTestFinished(() => store.close())
    const { calls, stats, prices } = store
    const app = await buildTestApp({}, { calls, stats, prices })
    const start = { attributes: { provider: 'groq' } }
    const models = { small: { prompt_tokens: 1 }, large: { prompt_tokens: 2 } }
    for (const id of ['c1', 'c2', 'c3']) await record(app, { id, start, end: null })
    await store.segments.buildAll()
    for (const id of ['c1', 'c2']) {
      const end = { project_id: 'acme/demo', id, ended_at: '2026-01-01T10:01:01Z' }
      const summary = id === 'c1' ? { usage: models } : {}
      expect((await app.post('/call/end', { end: { ...end, summary } })).status).toBe(200)
    }
    const countBy = async (field: string) => {
      const { body } = await ask(app, { group_by: { field } })
      return body.groups.map(({ group, count }: Record<string, unknown>) => [group, count])
    }
    for (const turn of ['live', 'built']) {
      if (turn === 'built') await store.segments.buildAll()
      expect(await countBy('provider')).toEqual([
        [null, 2],
        ['groq', 1],
      ])
      expect(await countBy('model')).toEqual([
        [null, 2],
        ['large', 1],
        ['small', 1],
      ])
      expect(await countBy('status')).toEqual([
        ['success', 2],
        ['running', 1],
      ])
    }
  })

  it.each([
    ['group_by.field', { field: 'attributes' }, {}],
    ['group_by.limit', { field: 'model', limit: 0 }, {}],
    ['group_by.limit', { field: 'model', limit: 1001 }, {}],
    ['group_by.search', { field: 'model', search: 'x'.repeat(257) }, {}],
    ['group_by.times', { field: 'model', times: true }, {}],
    ['group_by.sort_by.field', { field: 'model', sort_by: { field: 'sum_total_cost' } }, {}],
    ['group_by.sort_by.field', { field: 'op_name', sort_by: { field: 'last_started_at' } }, {}],
    ['group_by.sort_by.direction', { field: 'model', sort_by: { direction: 'up' } }, {}],
    [
      'group_by',
      { field: 'model' },
      { call_metrics: [{ metric: 'latency_ms', percentiles: [50] }] },
    ],
    [
      'group_by',
      { field: 'model' },
      { usage_metrics: [{ metric: 'total_cost', aggregations: ['max'] }] },
    ],
  ])('refuses %s: %j with %j', async (param, group_by, metrics) => {
    const app = await buildTestApp()
    const { status, body } = await ask(app, { ...metrics, group_by })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
  })
})
