/** The window, its grid and its days. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { ask, buildFilledApp, countCalls, record, WINDOW } from './support/stats-fixtures.ts'

const usageOf = (usage: Record<string, unknown>) => ({ summary: { usage } })

describe('POST /calls/stats', () => {
  describe('200', () => {
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

    it('an empty window has no buckets', async () => {
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
  })
})
