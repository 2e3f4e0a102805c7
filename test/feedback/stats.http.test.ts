import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { feedbackAt, trigger } from './feedback-fixtures.ts'

const URL = '/feedback/stats'
const project_id = 'acme/demo'
const WINDOW = {
  project_id,
  start: '2026-01-01T00:00:00Z',
  end: '2026-01-01T03:00:00Z',
  granularity: 3600,
}

/** Payloads by time. */
const PAYLOADS: readonly (readonly [at: string, payload: object])[] = [
  ['2026-01-01T00:00:00Z', { s: 1, ok: true, 'a b': { x: 'yes' }, list: [{ n: 1 }, { n: 2 }] }],
  ['2026-01-01T00:30:00Z', { s: 2.5, ok: false, 'a b': { x: null }, list: [] }],
  ['2026-01-01T00:59:59.999999Z', { s: '7', ok: 1, 'a b': { x: 3 } }],
  ['2026-01-01T02:00:00Z', { s: -4, ok: true, list: [{ n: 9 }] }],
  ['2026-01-01T03:00:00Z', { s: 1000, ok: true }],
]

async function openFilled() {
  const app = await buildTestApp()
  for (const [index, [at, payload]] of PAYLOADS.entries()) {
    const fields = {
      payload,
      feedback_type: `t.${index % 2}`,
      trigger_ref: trigger('m', `v${index}`),
    }
    await app.deps.feedback.createFeedback(feedbackAt(at, `f${index}`, fields))
  }
  const ask = async (fields: object, root = '') => {
    const { status, body } = await app.post(`${root}${URL}`, { ...WINDOW, ...fields })
    expect([status, body.error]).toEqual([200, undefined])
    return body
  }
  return { app, ask }
}

describe('POST /feedback/stats', () => {
  itRefusesBadRequests({ url: URL, body: { ...WINDOW }, scope: 'traces:read' })

  // The service behind weave 0.54 answers so whatever the window and the granularity are.
  it.each([
    ['no metrics', {}],
    ['an empty list', { metrics: [], granularity: 60 }],
  ])('answers %s with no buckets and a granularity of an hour', async (_, fields) => {
    const { ask } = await openFilled()
    expect(await ask(fields)).toEqual({
      start: '2026-01-01T00:00:00.000000Z',
      end: '2026-01-01T03:00:00.000000Z',
      granularity: 3600,
      timezone: 'UTC',
      buckets: [],
      window_stats: {},
    })
  })

  it.each(['', '/traces'])('sums numbers up by bucket and over the window at %s/', async (root) => {
    const { ask } = await openFilled()
    const numbers = {
      json_path: 's',
      aggregations: ['sum', 'avg', 'min', 'max', 'count'],
      percentiles: [50, 99.9],
    }
    const { buckets, window_stats } = await ask({ metrics: [numbers] }, root)
    expect(buckets).toEqual([
      {
        timestamp: '2026-01-01T00:00:00.000000Z',
        count: 3,
        count_s: 2,
        sum_s: 3.5,
        avg_s: 1.75,
        min_s: 1,
        max_s: 2.5,
        p50_s: 1.75,
        'p99.9_s': 2.4985,
      },
      {
        timestamp: '2026-01-01T01:00:00.000000Z',
        count: 0,
        count_s: 0,
        sum_s: 0,
        avg_s: 0,
        min_s: null,
        max_s: null,
        p50_s: null,
        'p99.9_s': null,
      },
      {
        timestamp: '2026-01-01T02:00:00.000000Z',
        count: 1,
        count_s: 1,
        sum_s: -4,
        avg_s: -4,
        min_s: -4,
        max_s: -4,
        p50_s: -4,
        'p99.9_s': -4,
      },
    ])
    expect(window_stats.s).toMatchObject({ count: 3, avg: -0.5 / 3, min: -4, max: 2.5, p50: 1 })
  })

  it('has aggregations for each type of value where none are asked for', async () => {
    const { ask } = await openFilled()
    const metrics = [
      { json_path: 's' },
      { json_path: 'ok', value_type: 'boolean' },
      { json_path: 'a b.x', value_type: 'categorical' },
      { json_path: 'list[*].n', aggregations: ['sum'] },
      { json_path: 'none' },
    ]
    const { window_stats } = await ask({ metrics })
    expect(window_stats).toEqual({
      s: { avg: -0.5 / 3, min: -4, max: 2.5 },
      ok: { count_true: 2, count_false: 1 },
      a_b_x: { count: 2 },
      list_n: { sum: 12 },
      none: { avg: null, min: null, max: null },
    })
  })

  it('takes the paths of the payload schema', async () => {
    const { app, ask } = await openFilled()
    const { start, end } = WINDOW
    const schema = await app.post('/feedback/payload_schema', { project_id, start, end })
    const paths = schema.body.paths as { json_path: string; value_type: string }[]
    expect(paths.map(({ json_path }) => json_path)).toContain('["a b"].x')
    const { window_stats } = await ask({ metrics: paths })
    expect(window_stats.a_b_x.count).toBe(2)
  })

  it('looks at feedback of the window alone', async () => {
    const { ask } = await openFilled()
    const cases: [object, number][] = [
      [{ feedback_type: 't.1' }, 2],
      [{ trigger_ref: trigger('m', 'v0') }, 1],
      [{ trigger_ref: trigger('m', '*') }, 4],
      [{ trigger_ref: trigger('other', '*') }, 0],
      [{ project_id: 'acme/other' }, 0],
      [{ start: '2026-01-01T00:00:01Z' }, 3],
    ]
    for (const [fields, count] of cases) {
      const metrics = [{ json_path: 's' }]
      const { buckets } = await ask({ ...fields, metrics, granularity: 86_400 })
      expect([fields, buckets[0].count]).toEqual([fields, count])
    }
  })

  it('follows the clock of a time zone', async () => {
    const { ask } = await openFilled()
    const metrics = [{ json_path: 's', aggregations: ['count'] }]
    const { buckets } = await ask({ granularity: 86_400, timezone: 'America/New_York', metrics })
    expect(buckets).toEqual([{ timestamp: '2025-12-31T05:00:00.000000Z', count: 4, count_s: 3 }])
  })

  it('widens buckets that would give too many values', async () => {
    const { ask } = await openFilled()
    const percentiles = Array.from({ length: 20 }, (_, at) => at)
    const metrics = Array.from({ length: 50 }, (_, at) => ({ json_path: `s${at}`, percentiles }))
    const { buckets, granularity } = await ask({ granularity: 1, metrics })
    expect([granularity, buckets.length]).toEqual([30, 360])
  })

  it('has no bucket for an empty window', async () => {
    const { ask } = await openFilled()
    const metrics = [{ json_path: 's' }]
    const { buckets, window_stats } = await ask({ end: WINDOW.start, metrics })
    expect([buckets, window_stats.s]).toEqual([[], { avg: null, min: null, max: null }])
  })

  it('sums up the largest numbers', async () => {
    const { app, ask } = await openFilled()
    const { createFeedback } = app.deps.feedback
    for (const [at, s] of [1e300, 0.5, -1e300, 9007199254740992].entries()) {
      const fields = { payload: { s }, project_id: 'acme/large' }
      await createFeedback(feedbackAt('2026-01-01T00:00:00Z', `large${at}`, fields))
    }
    const metrics = [{ json_path: 's', aggregations: ['max', 'sum'] }]
    const { window_stats } = await ask({ project_id: 'acme/large', metrics })
    expect(window_stats.s.max).toBe(1e300)
    expect(window_stats.s.sum).toBe(9007199254740992)
    for (const at of [1, 2]) {
      const fields = { payload: { s: -1.5e308 }, project_id: 'acme/large' }
      await createFeedback(feedbackAt('2026-01-01T00:00:00Z', `larger${at}`, fields))
    }
    const larger = await ask({ project_id: 'acme/large', metrics })
    expect(larger.window_stats.s.sum).toBe(-Number.MAX_VALUE)
  })

  it('refuses metrics by name', async () => {
    const { app } = await openFilled()
    const path = 'metrics[0].json_path'
    const categorical = { json_path: 'a', value_type: 'categorical', aggregations: ['avg'] }
    const cases: [string, object[]][] = [
      [path, [{ json_path: 'a..b' }]],
      [path, [{ json_path: 'a[0]' }]],
      [path, [{ json_path: '["a"' }]],
      ['metrics[1].json_path', [{ json_path: 'a.b' }, { json_path: 'a_b' }]],
      ['metrics[1].json_path', [{ json_path: 'a' }, { json_path: 'a', value_type: 'boolean' }]],
      ['metrics[0].percentiles', [{ json_path: 'a', value_type: 'boolean', percentiles: [5] }]],
      ['metrics[0].aggregations', [categorical]],
      ['metrics[0].value_type', [{ json_path: 'a', value_type: 'text' }]],
      ['metrics[0].percentiles[0]', [{ json_path: 'a', percentiles: [101] }]],
    ]
    for (const [param, metrics] of cases) {
      const { status, body } = await app.post(URL, { ...WINDOW, metrics })
      expect([status, body.error?.code, body.error?.param]).toEqual([
        422,
        'validation_failed',
        param,
      ])
    }
  })
})
