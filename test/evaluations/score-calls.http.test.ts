import { describe, expect, it } from 'vitest'
import { buildEvaluationApp, CONTAINS, PROJECT } from './evaluation-app.ts'

describe('calls that the server scores', () => {
  it('have the scores as feedback, and those that have not ended fail', async () => {
    const { publish, post, ended, feedback } = await buildEvaluationApp()
    const start = {
      project_id: PROJECT,
      op_name: 'op',
      started_at: '2026-01-31T09:30:00Z',
      attributes: {},
      inputs: {},
    }
    for (const id of ['c1', 'c2'])
      await post('/call/start', { start: { ...start, id, trace_id: id } })
    const end = {
      project_id: PROJECT,
      id: 'c1',
      ended_at: '2026-01-31T09:30:01Z',
      output: 'Paris',
      summary: {},
    }
    await post('/call/end', { end })
    const scorer = await publish('city', CONTAINS)
    const asked = { project_id: PROJECT, call_ids: ['c1', 'c2', 'none'], scorer_refs: [scorer] }
    const { status, body, text } = await post('/calls/score', asked)
    expect(status, text).toBe(200)
    expect(await ended(body.call_id)).toEqual({
      code: 'complete',
      output: { scored: 1, failed: 2 },
    })
    expect(await feedback()).toMatchObject([
      {
        feedback_type: 'wandb.runnable.city',
        weave_ref: `weave:///${PROJECT}/call/c1`,
        payload: { output: { passed: true } },
        runnable_ref: scorer,
      },
    ])
  })

  it('have what evaluators read of them, also where clocks disagree', async () => {
    const { publish, post, ended, feedback } = await buildEvaluationApp()
    const costs = { priced: { prompt_token_cost: 0.5, completion_token_cost: 0 } }
    await post('/cost/create', { project_id: PROJECT, costs })
    const usage = { priced: { prompt_tokens: 3, completion_tokens: 1 } }
    const named = { project_id: PROJECT, id: 'c1' }
    const start = { ...named, trace_id: 't1', thread_id: 'th', op_name: 'op', inputs: {} }
    const started_at = '2026-01-31T09:30:01Z'
    await post('/call/start', { start: { ...start, attributes: {}, started_at } })
    const ended_at = '2026-01-31T09:30:00Z'
    await post('/call/end', { end: { ...named, ended_at, output: 'Paris', summary: { usage } } })
    const equals = (path: string, value: unknown) => ({
      kind: 'rule',
      rule: { type: 'equals', path, value },
    })
    const scorers = {
      cost: { kind: 'rule', rule: { type: 'cost', max_usd: 1 } },
      latency: equals('$.latency_ms', 0),
      thread: equals('$.thread_id', 'th'),
      start: equals('$.started_at', '2026-01-31T09:30:01.000000Z'),
    }
    const scorer_refs: string[] = []
    for (const [name, scorer] of Object.entries(scorers))
      scorer_refs.push(await publish(name, scorer))
    const { body } = await post('/calls/score', {
      project_id: PROJECT,
      call_ids: ['c1'],
      scorer_refs,
    })
    expect(await ended(body.call_id)).toMatchObject({ output: { scored: 4, failed: 0 } })
    const outputs = Object.fromEntries(
      (await feedback()).map(({ feedback_type, payload }) => [feedback_type, payload.output]),
    )
    expect(outputs).toEqual({
      'wandb.runnable.cost': { passed: false, cost_usd: 1.5 },
      'wandb.runnable.latency': { passed: true },
      'wandb.runnable.thread': { passed: true },
      'wandb.runnable.start': { passed: true },
    })
  })
})
