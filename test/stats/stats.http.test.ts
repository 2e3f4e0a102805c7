import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { ask, COUNTS, countCalls, PROJECT, record, URL, WINDOW } from './support/stats-fixtures.ts'

const usageOf = (usage: Record<string, unknown>) => ({ summary: { usage } })

/** Three calls in the first bucket, none in the second. */
async function buildFilledApp() {
  const app = await buildTestApp()
  await record(app, { id: 'c1', end: { ended_at: '2026-01-01T10:01:00.100Z' } })
  await record(app, {
    id: 'c2',
    end: { ended_at: '2026-01-01T10:01:00.300Z', exception: 'ValueError' },
  })
  await record(app, { id: 'c3', end: null })
  return app
}

describe('POST /calls/stats', () => {
  itRefusesBadRequests({ url: URL, body: COUNTS, scope: 'traces:read' })

  describe('200', () => {
    it('answers §4.4 response start, §4.4 response end, §4.4 response granularity, §4.4 response timezone', async () => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, {
        start: '2026-01-01T12:00:00.5+02:00',
        end: '2026-01-01 10:10:00',
        timezone: 'Europe/Paris',
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        start: '2026-01-01T10:00:00.500000Z',
        end: '2026-01-01T10:10:00.000000Z',
        granularity: 300,
        timezone: 'Europe/Paris',
      })
    })

    it('answers §2.9 call bucket and §4.4 response call_buckets: the whole grid, keys in order', async () => {
      const app = await buildFilledApp()
      const { body } = await ask(app, {
        call_metrics: [
          { metric: 'error_count', aggregations: ['sum', 'count_true', 'count_false'] },
          { metric: 'latency_ms', aggregations: ['avg', 'min', 'max', 'count'], percentiles: [50] },
          { metric: 'call_count' },
        ],
      })
      expect(body.usage_buckets).toEqual([])
      expect(body.call_buckets).toEqual([
        {
          timestamp: '2026-01-01T10:00:00.000000Z',
          sum_error_count: 1,
          count_true_error_count: 1,
          count_false_error_count: 2,
          avg_latency_ms: 200,
          min_latency_ms: 100,
          max_latency_ms: 300,
          count_latency_ms: 2,
          p50_latency_ms: 200,
          sum_call_count: 3,
          count: 3,
        },
        {
          timestamp: '2026-01-01T10:05:00.000000Z',
          sum_error_count: 0,
          count_true_error_count: 0,
          count_false_error_count: 0,
          avg_latency_ms: 0,
          min_latency_ms: null,
          max_latency_ms: null,
          count_latency_ms: 0,
          p50_latency_ms: null,
          sum_call_count: 0,
          count: 0,
        },
      ])
      expect(Object.keys(body.call_buckets[0])).toEqual([
        ...['timestamp', 'sum_error_count', 'count_true_error_count', 'count_false_error_count'],
        ...['avg_latency_ms', 'min_latency_ms', 'max_latency_ms', 'count_latency_ms'],
        ...['p50_latency_ms', 'sum_call_count', 'count'],
      ])
    })

    it('answers §2.9 usage bucket and §4.4 response usage_buckets: the grid times the models', async () => {
      const app = await buildTestApp()
      const b = { prompt_tokens: 7, completion_tokens: 3 }
      await record(app, { id: 'c1', end: usageOf({ b, a: { input_tokens: 1 } }) })
      await record(app, { id: 'c2', at: '10:06:00', end: usageOf({ b }) })
      const { body } = await ask(app, {
        call_metrics: null,
        usage_metrics: [
          { metric: 'total_tokens', aggregations: ['sum', 'max'] },
          { metric: 'output_tokens', aggregations: [], percentiles: [99.9] },
        ],
      })
      const times = ['2026-01-01T10:00:00.000000Z', '2026-01-01T10:05:00.000000Z']
      const of = (total: number, output: number) => ({
        sum_total_tokens: total,
        max_total_tokens: total,
        'p99.9_output_tokens': output,
        count: 1,
      })
      expect(body.call_buckets).toEqual([])
      expect(body.usage_buckets).toEqual([
        { timestamp: times[0], model: 'a', ...of(1, 0) },
        { timestamp: times[0], model: 'b', ...of(10, 3) },
        {
          timestamp: times[1],
          model: 'a',
          sum_total_tokens: 0,
          max_total_tokens: null,
          'p99.9_output_tokens': null,
          count: 0,
        },
        { timestamp: times[1], model: 'b', ...of(10, 3) },
      ])
      expect(Object.keys(body.usage_buckets[0])).toEqual([
        ...['timestamp', 'model', 'sum_total_tokens', 'max_total_tokens', 'p99.9_output_tokens'],
        'count',
      ])
    })

    it('answers no usage buckets when no call has usage', async () => {
      const app = await buildFilledApp()
      const { body } = await ask(app, { usage_metrics: [{ metric: 'input_tokens' }] })
      expect(body.usage_buckets).toEqual([])
      expect(body.call_buckets).toHaveLength(2)
    })

    it('counts every usage metric', async () => {
      const app = await buildTestApp()
      const claude = {
        input_tokens: 100,
        output_tokens: 50,
        cache_read_input_tokens: 2000,
        cache_creation_input_tokens: 400,
      }
      await record(app, { id: 'c1', end: usageOf({ 'claude-3-5-sonnet-20241022': claude }) })
      const metrics = [
        ...['input_tokens', 'output_tokens', 'total_tokens', 'cache_read_input_tokens'],
        ...['cache_creation_input_tokens', 'input_cost', 'output_cost', 'total_cost'],
      ]
      const { body, headers } = await ask(app, {
        usage_metrics: metrics.map((metric) => ({ metric })),
      })
      expect(body.usage_buckets[0]).toEqual({
        timestamp: '2026-01-01T10:00:00.000000Z',
        model: 'claude-3-5-sonnet-20241022',
        sum_input_tokens: 100,
        sum_output_tokens: 50,
        sum_total_tokens: 150,
        sum_cache_read_input_tokens: 2000,
        sum_cache_creation_input_tokens: 400,
        sum_input_cost: 0.0024,
        sum_output_cost: 0.00075,
        sum_total_cost: 0.00315,
        count: 1,
      })
      expect(headers).not.toHaveProperty('x-weft-unpriced-models')
    })

    it('names models without a price and answers null for their costs, never 0', async () => {
      const app = await buildTestApp()
      const usage = { 'my, model': { input_tokens: 5 }, 'gpt-4o': { prompt_tokens: 1000 } }
      await record(app, { id: 'c1', end: usageOf(usage) })
      const costs = {
        metric: 'total_cost',
        aggregations: ['sum', 'avg', 'min', 'count'],
        percentiles: [50],
      }
      const { body, headers } = await ask(app, { usage_metrics: [costs] })
      expect(headers['x-weft-unpriced-models']).toBe('my%2C%20model')
      const [priced, unpriced, , emptyUnpriced] = body.usage_buckets
      expect(priced).toMatchObject({ model: 'gpt-4o', sum_total_cost: 0.0025, count: 1 })
      expect(unpriced).toMatchObject({
        model: 'my, model',
        sum_total_cost: null,
        avg_total_cost: null,
        min_total_cost: null,
        p50_total_cost: null,
        count_total_cost: 0,
        count: 1,
      })
      expect(emptyUnpriced).toMatchObject({ model: 'my, model', sum_total_cost: 0, count: 0 })
      const tokens = await ask(app, { usage_metrics: [{ metric: 'total_tokens' }] })
      expect(tokens.headers).not.toHaveProperty('x-weft-unpriced-models')
    })

    it('cuts the data at §4.4 start and §4.4 end, not at the grid', async () => {
      const app = await buildTestApp()
      await record(app, { id: 'before', at: '10:00:59.999999' })
      await record(app, { id: 'first', at: '10:01:00' })
      await record(app, { id: 'last', at: '10:06:59.999999' })
      await record(app, { id: 'after', at: '10:07:00' })
      const { body } = await ask(app, {
        start: '2026-01-01T10:01:00Z',
        end: '2026-01-01T10:07:00Z',
      })
      expect(body.call_buckets.map(({ count }: { count: number }) => count)).toEqual([1, 1])
      expect(body.call_buckets[0].timestamp).toBe('2026-01-01T10:00:00.000000Z')
    })

    it('takes now for an absent §4.4 end, and counts a call that was just recorded', async () => {
      const app = await buildTestApp()
      const before = Date.now()
      await record(app, {
        id: 'now',
        start: { started_at: new Date().toISOString() },
        end: null,
      })
      for (const end of [null, undefined]) {
        const start = new Date(before - 60_000).toISOString()
        const { body } = await ask(app, { start, end })
        expect(Date.parse(body.end)).toBeGreaterThanOrEqual(before)
        expect(Date.parse(body.end)).toBeLessThanOrEqual(Date.now())
        expect(await countCalls(app, { start, end })).toBe(1)
      }
    })

    it('answers an empty window', async () => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, { end: WINDOW.start })
      expect([status, body.call_buckets]).toEqual([200, []])
    })

    it.each([
      [null, 300],
      [undefined, 300],
      [120, 120],
      [7, 7],
      [86_400, 86_400],
    ])('takes §4.4 granularity %j as %d s', async (granularity, used) => {
      const app = await buildFilledApp()
      const { body } = await ask(app, { granularity })
      expect(body.granularity).toBe(used)
      expect(await countCalls(app, { granularity })).toBe(3)
    })

    it('adjusts a granularity of more than 10,000 buckets: §8 calls stats', async () => {
      const app = await buildFilledApp()
      const { status, body } = await ask(app, { end: '2026-01-02T10:00:00Z', granularity: 1 })
      expect([status, body.granularity, body.call_buckets.length]).toEqual([200, 10, 8640])
      expect(await countCalls(app, { end: '2026-01-02T10:00:00Z', granularity: 1 })).toBe(3)
    })

    it('widens the granularity of an answer of more than 500,000 values', async () => {
      const app = await buildTestApp()
      await record(app, { id: 'c1', end: usageOf({ a: { input_tokens: 1 } }) })
      await record(app, { id: 'c2', end: usageOf({ b: { input_tokens: 1 } }) })
      const percentiles = Array.from({ length: 20 }, (_, index) => index)
      const call_metrics = Array.from({ length: 6 }, (_, index) => ({
        metric: 'latency_ms',
        percentiles: percentiles.map((percentile) => percentile + index / 10),
      }))
      const window = { end: '2026-01-01T12:46:40Z', granularity: 1 }
      const calls = await ask(app, { ...window, call_metrics })
      expect([calls.status, calls.body.granularity]).toEqual([200, 5])
      expect(calls.body.call_buckets).toHaveLength(2000)
      const usage_metrics = ['input_tokens', 'output_tokens'].map((metric) => ({
        metric,
        percentiles,
      }))
      const usage = await ask(app, { ...window, call_metrics: null, usage_metrics })
      expect([usage.status, usage.body.granularity]).toEqual([200, 5])
    })

    it('follows the local day of §4.4 timezone', async () => {
      const app = await buildFilledApp()
      const { body } = await ask(app, {
        end: '2026-01-02T10:00:00Z',
        granularity: 86_400,
        timezone: 'Asia/Kathmandu',
      })
      expect(body.call_buckets.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual([
        '2025-12-31T18:15:00.000000Z',
        '2026-01-01T18:15:00.000000Z',
      ])
    })

    it.each([
      [{ call_metrics: null }],
      [{ call_metrics: [] }],
      [{ call_metrics: undefined, usage_metrics: [] }],
    ])(
      'answers the seconds that would be used and no buckets without metrics: %j',
      async (fields) => {
        const app = await buildFilledApp()
        const { status, body } = await ask(app, { ...fields, timezone: 'US/Eastern' })
        expect(status).toBe(200)
        expect(body).toEqual({
          start: '2026-01-01T10:00:00.000000Z',
          end: '2026-01-01T10:10:00.000000Z',
          granularity: 300,
          usage_counting: 'own',
          timezone: 'US/Eastern',
          usage_buckets: [],
          call_buckets: [],
        })
      },
    )

    it.each([
      [{}, ['sum_latency_ms']],
      [{ aggregations: [] }, ['sum_latency_ms']],
      [{ aggregations: [], percentiles: [95] }, ['p95_latency_ms']],
      [
        { percentiles: [0, 100, 99.9] },
        ['sum', 'p0', 'p100', 'p99.9'].map((a) => `${a}_latency_ms`),
      ],
      [{ aggregations: ['max', 'max', 'sum'] }, ['max_latency_ms', 'sum_latency_ms']],
    ])('reads §2.8 aggregations and §2.8 percentiles of %j', async (spec, keys) => {
      const app = await buildFilledApp()
      const { body } = await ask(app, { call_metrics: [{ metric: 'latency_ms', ...spec }] })
      expect(Object.keys(body.call_buckets[0])).toEqual(['timestamp', ...keys, 'count'])
    })

    it('looks only into §4.4 project_id', async () => {
      const app = await buildFilledApp()
      expect(await countCalls(app, { project_id: 'acme/other' })).toBe(0)
      expect(await countCalls(app, { project_id: PROJECT })).toBe(3)
    })

    it('leaves out an end whose start has not come, and counts it once it has', async () => {
      const app = await buildTestApp()
      const end = { project_id: PROJECT, id: 'late', ended_at: '2026-01-01T10:01:05Z' }
      await app.post('/call/end', { end })
      expect(await countCalls(app)).toBe(0)
      await record(app, { id: 'late', end: null })
      const { body } = await ask(app, { call_metrics: [{ metric: 'latency_ms' }] })
      expect(body.call_buckets[0]).toMatchObject({ sum_latency_ms: 5000, count: 1 })
    })

    it('counts the latency and usage of a call once its end comes', async () => {
      const app = await buildTestApp()
      const metrics = {
        call_metrics: [{ metric: 'latency_ms', aggregations: ['count'] }],
        usage_metrics: [{ metric: 'input_tokens' }],
      }
      await record(app, { id: 'c1', end: null })
      const before = await ask(app, metrics)
      expect(before.body.call_buckets[0]).toMatchObject({ count_latency_ms: 0, count: 1 })
      expect(before.body.usage_buckets).toEqual([])
      await record(app, { id: 'c1', end: usageOf({ m: { input_tokens: 4 } }) })
      const after = await ask(app, metrics)
      expect(after.body.call_buckets[0]).toMatchObject({ count_latency_ms: 1, count: 1 })
      expect(after.body.usage_buckets[0]).toMatchObject({ sum_input_tokens: 4, count: 1 })
    })

    it('counts no negative latency when clocks disagree', async () => {
      const app = await buildTestApp()
      await record(app, { id: 'c1', end: { ended_at: '2026-01-01T10:00:59Z' } })
      const { body } = await ask(app, {
        call_metrics: [{ metric: 'latency_ms', aggregations: ['min', 'count'] }],
      })
      expect(body.call_buckets[0]).toMatchObject({ min_latency_ms: 0, count_latency_ms: 1 })
    })

    it('is served with a trailing slash too', async () => {
      const app = await buildTestApp()
      expect((await app.post(`${URL}/`, COUNTS)).status).toBe(200)
    })
  })

  describe('403', () => {
    it('answers project_forbidden for a project outside of the key', async () => {
      const app = await buildFilledApp()
      const key = await app.createKey({ projects: ['beta/*'] })
      const { status, body } = await app.post(URL, COUNTS, { key })
      expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    })
  })

  describe('422', () => {
    const spec = (fields: Record<string, unknown>) => [{ metric: 'call_count', ...fields }]
    const many = (length: number, value: unknown) => Array.from({ length }, () => value)
    it.each([
      ['project_id', undefined],
      ['project_id', null],
      ['project_id', 7],
      ['project_id', 'noslash'],
      ['start', undefined],
      ['start', null],
      ['start', 1_767_225_600],
      ['start', 'yesterday'],
      ['end', 7],
      ['end', '2026-13-01T00:00:00Z'],
      ['end', '2026-01-01T09:59:59.999999Z'],
      ['granularity', 0],
      ['granularity', -1],
      ['granularity', 1.5],
      ['granularity', '300'],
      ['granularity', 4e9],
      ['timezone', null],
      ['timezone', 7],
      ['timezone', ''],
      ['timezone', 'Mars/Olympus'],
      ['timezone', '+01:00'],
      ['timezone', `Europe/${'x'.repeat(100)}`],
      ['filter', 'all'],
      ['filter', []],
      ['call_metrics', 'call_count'],
      ['call_metrics', {}],
      ['usage_metrics', 7],
      ['call_metrics', many(51, { metric: 'call_count' })],
      ['usage_metrics', many(51, { metric: 'total_cost' })],
      ['call_metrics', spec({ metric: undefined }), 'call_metrics[0].metric'],
      ['call_metrics', spec({ metric: null }), 'call_metrics[0].metric'],
      ['call_metrics', spec({ metric: 'total_tokens' }), 'call_metrics[0].metric'],
      ['usage_metrics', spec({}), 'usage_metrics[0].metric'],
      ['call_metrics', ['call_count'], 'call_metrics[0]'],
      ['call_metrics', spec({ name: 'x' }), 'call_metrics[0].name'],
      ['call_metrics', spec({ aggregations: null }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ aggregations: 'sum' }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ aggregations: ['median'] }), 'call_metrics[0].aggregations[0]'],
      ['call_metrics', spec({ aggregations: many(21, 'sum') }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ percentiles: null }), 'call_metrics[0].percentiles'],
      ['call_metrics', spec({ percentiles: 50 }), 'call_metrics[0].percentiles'],
      ['call_metrics', spec({ percentiles: ['50'] }), 'call_metrics[0].percentiles[0]'],
      ['call_metrics', spec({ percentiles: [-0.1] }), 'call_metrics[0].percentiles[0]'],
      ['call_metrics', spec({ percentiles: [50, 100.1] }), 'call_metrics[0].percentiles[1]'],
      ['call_metrics', spec({ percentiles: many(21, 5) }), 'call_metrics[0].percentiles'],
      ['metrics', []],
    ])('refuses §4.4 %s = %j', async (field, value, param = field) => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, { [field as string]: value })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
    })

    it('refuses a start in the future without an end', async () => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, { start: '2250-01-01T00:00:00Z', end: null })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', 'end'])
    })

    it('lists the allowed names in its message', async () => {
      const app = await buildTestApp()
      const metric = await ask(app, { usage_metrics: [{ metric: 'tokens' }] })
      for (const name of ['input_tokens', 'cache_creation_input_tokens', 'total_cost']) {
        expect(metric.body.error.message).toContain(name)
      }
      const aggregation = await ask(app, { call_metrics: spec({ aggregations: ['median'] }) })
      for (const name of ['sum', 'avg', 'count_false']) {
        expect(aggregation.body.error.message).toContain(name)
      }
    })
  })
})
