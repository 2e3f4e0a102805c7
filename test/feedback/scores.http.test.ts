import { describe, expect, it } from 'vitest'
import { SCORE_DEFAULTS, SCORE_FIELDS } from '../../src/schemas/feedback/score-defaults.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { FEEDBACK } from './feedback-fixtures.ts'

const project_id = 'acme/demo'
const SCORES = {
  scorer_tags: ['good', 'short'],
  scorer_tag_reasons: { good: 'it is', wb_user_id: 'a name of the client' },
  scorer_tag_confidences: { good: 0.5 },
  scorer_ratings: { _rating_: 0.75 },
  scorer_rating_reasons: { _rating_: 'three of four' },
  scorer_rating_confidences: { _rating_: 1 },
  scorer_trace_id: 't-judge',
  span_agent_name: 'Ada',
  span_agent_version: '2',
  span_conversation_id: 'c-1',
  span_status_code: 'OK',
  span_trace_id: 't-1',
}
const RUN = {
  runnable_ref: 'weave:///acme/demo/op/judge:v1',
  call_ref: 'weave:///acme/demo/call/c1',
  trigger_ref: 'weave:///acme/demo/object/monitor:v1',
}
const RUNNABLE = {
  ...FEEDBACK,
  ...RUN,
  feedback_type: 'wandb.runnable.judge',
  payload: { output: 1 },
}

describe('scores of feedback', () => {
  it.each(['', '/traces'])('are kept and found by %s/feedback/query', async (root) => {
    const { post } = await buildTestApp()
    const made = await post(`${root}/feedback/create`, { ...RUNNABLE, ...SCORES, id: 'a' })
    expect([made.status, made.body.error]).toEqual([200, undefined])
    expect((await post(`${root}/feedback/create`, { ...RUNNABLE, id: 'b' })).status).toBe(200)
    const sort_by = [{ field: 'scorer_ratings._rating_', direction: 'asc' }]
    const asked = { project_id, fields: SCORE_FIELDS, sort_by }
    const { body } = await post(`${root}/feedback/query`, asked)
    expect(body.result).toEqual([SCORES, SCORE_DEFAULTS])
    const query = { $expr: { $eq: [{ $getField: 'span_agent_name' }, { $literal: 'Ada' }] } }
    const found = await post(`${root}/feedback/query`, { project_id, fields: ['id'], query })
    expect(found.body.result).toEqual([{ id: 'a' }])
  })

  it('make a difference between two records of one id', async () => {
    const { post } = await buildTestApp()
    const body = { ...RUNNABLE, ...SCORES, id: 'a' }
    expect((await post('/feedback/create', body)).status).toBe(200)
    expect((await post('/feedback/create', body)).status).toBe(200)
    const other = await post('/feedback/create', { ...body, scorer_tags: ['bad'] })
    expect(other.body.error.code).toBe('feedback_conflict')
  })

  it.each([
    ['scorer_tags', 'good'],
    ['scorer_tags[0]', ['']],
    ['scorer_tags', Array(101).fill('x')],
    ['scorer_tag_reasons.a', { a: 1 }],
    ['scorer_ratings.a', { a: 'high' }],
    ['scorer_rating_confidences', [1]],
    ['span_trace_id', 5],
  ])('are refused for a bad %s', async (param, value) => {
    const { post } = await buildTestApp()
    const field = /^\w+/.exec(param)?.[0] as string
    const { status, body } = await post('/feedback/create', { ...RUNNABLE, [field]: value })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
  })
})

describe('refs and scores below /traces', () => {
  const note = { feedback_type: 'wandb.note.1', payload: { note: 'x' } }
  const annotation_ref = 'weave:///acme/demo/object/a:v1'
  it.each([
    ['annotation_ref', { ...note, annotation_ref }],
    ['runnable_ref', { ...note, runnable_ref: RUN.runnable_ref }],
    ['call_ref', { feedback_type: 'mine', call_ref: RUN.call_ref }],
    ['trigger_ref', { feedback_type: 'mine', trigger_ref: RUN.trigger_ref }],
    ['runnable_ref', { feedback_type: 'wandb.agent_monitor' }],
    ['trigger_ref', { feedback_type: 'wandb.agent_monitor', ...RUN, trigger_ref: null }],
    ['scorer_tags', { feedback_type: 'wandb.agent_user_feedback' }],
    ['scorer_ratings', { ...note, scorer_ratings: { a: 1 } }],
    ['annotation_ref', { ...RUNNABLE, annotation_ref }],
    ['call_ref', { ...RUNNABLE, call_ref: RUN.trigger_ref }],
    ['runnable_ref', { ...RUNNABLE, runnable_ref: RUN.call_ref }],
  ])('%s must go with the type: %j', async (param, fields) => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/traces/feedback/create', { ...FEEDBACK, ...fields })
    expect([status, body.error?.code, body.error?.param]).toEqual([422, 'validation_failed', param])
  })

  it.each([
    { ...RUNNABLE, ...SCORES },
    { feedback_type: 'wandb.agent_monitor', ...RUN, ...SCORES },
    { feedback_type: 'wandb.agent_user_feedback', scorer_tags: ['good'] },
    { ...note, scorer_tags: [], scorer_ratings: {}, span_trace_id: '' },
    { feedback_type: 'wandb.annotation.a', annotation_ref, payload: { value: 1 } },
    { feedback_type: 'mine', wb_user_id: 'somebody' },
  ])('are taken: %j', async (fields) => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/traces/feedback/create', { ...FEEDBACK, ...fields })
    expect([status, body.error]).toEqual([200, undefined])
  })
})
