import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { feedbackAt, trigger } from './feedback-fixtures.ts'

const URL = '/feedback/aggregate'
const project_id = 'acme/demo'
const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 0, 1)
const WINDOW = { project_id, after_ms: START_MS, before_ms: START_MS + 3 * HOUR_MS }

const op = (name: string) => `weave:///acme/demo/op/${name}:v1`
const GIVEN = [
  {
    at: '2026-01-01T00:10:00Z',
    runnable_ref: op('strict'),
    trigger_ref: trigger('mon'),
    scorer_tags: ['good', 'short'],
    scorer_ratings: { _rating_: 0.75 },
    span_agent_name: 'Ada',
  },
  {
    at: '2026-01-01T00:20:00Z',
    runnable_ref: op('strict'),
    trigger_ref: trigger('monday'),
    scorer_ratings: { _rating_: 0.5, tone: 2 },
    feedback_type: 'wandb.runnable.strict',
    payload: { output: 1 },
  },
  { at: '2026-01-01T01:00:00Z', runnable_ref: op('mild'), span_agent_name: 'Ada' },
  { at: '2026-01-01T02:59:59.999999Z', scorer_tags: ['good', 'good'] },
  { at: '2026-01-01T03:00:00Z', scorer_tags: ['late'] },
]

async function openFilled() {
  const app = await buildTestApp()
  for (const [index, { at, ...fields }] of GIVEN.entries()) {
    await app.deps.feedback.createFeedback(feedbackAt(at, `f${index}`, fields))
  }
  const turn = { weave_ref: 'weave:///acme/demo/agent_turn/t1', scorer_tags: ['turn'] }
  const made = { project_id, feedback_type: 'wandb.agent_user_feedback', payload: {}, ...turn }
  const { status } = await app.post('/traces/feedback/create', made)
  expect(status).toBe(200)
  const ask = async (fields: object = {}, root = '') => {
    const { status, body } = await app.post(`${root}${URL}`, { ...WINDOW, ...fields })
    expect([status, body.error]).toEqual([200, undefined])
    return body.buckets
  }
  return { app, ask }
}

const bucket = (fields: object) => ({
  time_bucket_start_ms: null,
  group: {},
  total_count: 0,
  scored_count: 0,
  tag_counts: {},
  rating_counts: {},
  rating_sums: {},
  ...fields,
})

describe('POST /feedback/aggregate', () => {
  itRefusesBadRequests({ url: URL, body: WINDOW, scope: 'traces:read' })

  it.each(['', '/traces'])('counts the whole window at %s/', async (root) => {
    const { ask } = await openFilled()
    const [whole, ...more] = await ask({}, root)
    expect(more).toEqual([])
    expect(whole).toEqual(
      bucket({
        total_count: 4,
        scored_count: 3,
        tag_counts: { good: 2, short: 1 },
        rating_counts: { _rating_: 2, tone: 1 },
        rating_sums: { _rating_: 1.25, tone: 2 },
      }),
    )
  })

  it('counts by time and group, and leaves out what is empty', async () => {
    const { ask } = await openFilled()
    const found = await ask({
      time_bucket_seconds: 3600,
      group_by: ['scorer_id', 'span_agent_name'],
    })
    expect(found).toEqual([
      bucket({
        time_bucket_start_ms: START_MS,
        group: { scorer_id: 'strict', span_agent_name: '' },
        total_count: 1,
        scored_count: 1,
        rating_counts: { _rating_: 1, tone: 1 },
        rating_sums: { _rating_: 0.5, tone: 2 },
      }),
      bucket({
        time_bucket_start_ms: START_MS,
        group: { scorer_id: 'strict', span_agent_name: 'Ada' },
        total_count: 1,
        scored_count: 1,
        tag_counts: { good: 1, short: 1 },
        rating_counts: { _rating_: 1 },
        rating_sums: { _rating_: 0.75 },
      }),
      bucket({
        time_bucket_start_ms: START_MS + HOUR_MS,
        group: { scorer_id: 'mild', span_agent_name: 'Ada' },
        total_count: 1,
      }),
      bucket({
        time_bucket_start_ms: START_MS + 2 * HOUR_MS,
        group: { scorer_id: '', span_agent_name: '' },
        total_count: 1,
        scored_count: 1,
        tag_counts: { good: 1 },
      }),
    ])
  })

  it('counts what is asked for alone', async () => {
    const { ask } = await openFilled()
    const always = { before_ms: 4_000_000_000_000 }
    const cases: [object, number][] = [
      [{ feedback_types: ['wandb.runnable.'] }, 1],
      [{ feedback_types: ['wandb.*', 'custom'] }, 4],
      [{ scorer_ids: ['strict'] }, 2],
      [{ scorer_ids: ['mi*', 'none'] }, 1],
      [{ monitor_ids: ['mon'] }, 1],
      [{ monitor_ids: ['mon*'] }, 2],
      [{ span_agent_names: ['Ada'] }, 2],
      [{ tags: ['short', 'none'] }, 1],
      [{ rating_min: 0.75 }, 1],
      [{ rating_max: 0.5 }, 1],
      [{ rating_min: 0.5, rating_max: 0.75 }, 2],
      [{ ...always, span_types: ['agent_turn'] }, 1],
      [{ ...always, span_types: ['agent_conversation'] }, 0],
      [{ project_id: 'acme/other' }, 0],
    ]
    for (const [fields, count] of cases) {
      const found = await ask(fields)
      expect([fields, found[0]?.total_count ?? 0]).toEqual([fields, count])
    }
  })

  it('sums ratings that exceed a double in total', async () => {
    const app = await buildTestApp()
    for (const id of ['a', 'b', 'c']) {
      const fields = { scorer_ratings: { huge: 1.5e308, back: id === 'c' ? -1.5e308 : 1.5e308 } }
      await app.deps.feedback.createFeedback(feedbackAt('2026-01-01T00:10:00Z', id, fields))
    }
    const { body } = await app.post(URL, WINDOW)
    expect(body.buckets).toMatchObject([{ rating_sums: { huge: Number.MAX_VALUE, back: 1.5e308 } }])
  })

  it('refuses fields by name', async () => {
    const { app } = await openFilled()
    const cases: [string, object][] = [
      ['before_ms', { before_ms: START_MS - 1 }],
      ['group_by[0]', { group_by: ['payload'] }],
      ['span_types[0]', { span_types: ['call'] }],
      ['time_bucket_seconds', { time_bucket_seconds: 0 }],
    ]
    for (const [param, fields] of cases) {
      const { status, body } = await app.post(URL, { ...WINDOW, ...fields })
      expect([status, body.error?.code, body.error?.param]).toEqual([
        422,
        'validation_failed',
        param,
      ])
    }
  })
})
