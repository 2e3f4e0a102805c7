/** What statistics answer about the calls of a window. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  ask,
  buildFilledApp,
  COUNTS,
  countCalls,
  PROJECT,
  record,
  URL,
} from './support/stats-fixtures.ts'

const usageOf = (usage: Record<string, unknown>) => ({ summary: { usage } })

describe('POST /calls/stats', () => {
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

    it('every usage metric is counted', async () => {
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
        sum_input_tokens: 2500,
        sum_output_tokens: 50,
        sum_total_tokens: 2550,
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

    it('statistics count only calls of §4.4 project_id', async () => {
      const app = await buildFilledApp()
      expect(await countCalls(app, { project_id: 'acme/other' })).toBe(0)
      expect(await countCalls(app, { project_id: PROJECT })).toBe(3)
    })

    it('an end without a start is left out of the statistics, and counted once after its start', async () => {
      const app = await buildTestApp()
      const end = { project_id: PROJECT, id: 'late', ended_at: '2026-01-01T10:01:05Z' }
      await app.post('/call/end', { end })
      expect(await countCalls(app)).toBe(0)
      await record(app, { id: 'late', end: null })
      const { body } = await ask(app, { call_metrics: [{ metric: 'latency_ms' }] })
      expect(body.call_buckets[0]).toMatchObject({ sum_latency_ms: 5000, count: 1 })
    })

    it('latency and usage of a call are counted once its end arrives', async () => {
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

    it('a call that ends before its start has no negative latency', async () => {
      const app = await buildTestApp()
      await record(app, { id: 'c1', end: { ended_at: '2026-01-01T10:00:59Z' } })
      const { body } = await ask(app, {
        call_metrics: [{ metric: 'latency_ms', aggregations: ['min', 'count'] }],
      })
      expect(body.call_buckets[0]).toMatchObject({ min_latency_ms: 0, count_latency_ms: 1 })
    })

    it('POST /calls/stats is served with a trailing slash too', async () => {
      const app = await buildTestApp()
      expect((await app.post(`${URL}/`, COUNTS)).status).toBe(200)
    })
  })
})
