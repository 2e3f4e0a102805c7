import { describe, expect, it } from 'vitest'
import {
  createScriptedBackend,
  HELLO,
  NEVER,
  piece,
  scriptedModels,
} from '../support/scripted-backend.ts'
import { buildEvaluationApp, CONTAINS, EQUALS, PROJECT } from './evaluation-app.ts'

const COST = { kind: 'rule', rule: { type: 'cost', max_usd: 1000 } } as const
const LATENCY = { kind: 'rule', rule: { type: 'latency', max_ms: 600_000 } } as const

describe('a run that is scored again', () => {
  it('is a new run with the predictions of the first, and its scores', async () => {
    const { publish, evaluate, ended, post, calls } = await buildEvaluationApp()
    const { call_id, evaluation_ref } = await evaluate({ city: CONTAINS })
    await ended(call_id)
    const scorer = await publish('exact', EQUALS)
    const asked = { project_id: PROJECT, source_evaluation_run_id: call_id, scorer_refs: [scorer] }
    const { status, body, text } = await post('/evaluations/rescore', asked)
    expect(status, text).toBe(200)
    expect(body.evaluation_run_id).toBe(body.call_id)
    expect(await ended(body.call_id)).toMatchObject({
      output: { exact: { passed: { true_count: 2 } } },
    })
    const [run] = await calls({ call_ids: [body.call_id] })
    expect(run).toMatchObject({
      inputs: { self: evaluation_ref },
      attributes: { weave: { source_evaluation_run_id: call_id } },
    })
    const predictions = (await calls({ op_names: ['LLMStructuredCompletionModel.predict'] })).map(
      ({ id }) => id,
    )
    const trials = (await calls({ parent_ids: [body.call_id] })).filter(({ op_name }) =>
      op_name.endsWith('score'),
    )
    const marked = trials.map(({ attributes }) => attributes.weave.predict_call_id)
    expect(marked.toSorted()).toEqual(predictions.toSorted())
  })

  it('counts the predictions of the run alone, not its summary', async () => {
    const { publish, evaluate, ended, status, post } = await buildEvaluationApp({
      script: ({ request }) =>
        JSON.stringify(request).includes('Judge')
          ? [NEVER]
          : [piece('yes', { finish_reason: 'stop' })],
    })
    const { call_id } = await evaluate({})
    await ended(call_id)
    const judge = {
      kind: 'judge',
      model: 'scripted',
      messages: [{ role: 'user', content: 'Judge {output}' }],
      variables: { output: '$.output' },
    }
    const { body } = await post('/evaluations/rescore', {
      project_id: PROJECT,
      source_evaluation_run_id: call_id,
      scorer_refs: [await publish('quality', judge)],
    })
    expect(await status(body.call_id)).toEqual({
      code: 'running',
      completed_rows: 0,
      total_rows: 3,
    })
    await post('/evaluations/cancel', { project_id: PROJECT, call_id: body.call_id })
  })

  it('has scores of latency and cost, at the prices of the project', async () => {
    const { publish, evaluate, ended, post } = await buildEvaluationApp()
    const costs = { scripted: { prompt_token_cost: 1, completion_token_cost: 1 } }
    await post('/cost/create', { project_id: PROJECT, costs })
    const { call_id } = await evaluate({ cost: COST })
    const first = await ended(call_id)
    expect(first).toMatchObject({ output: { cost: { passed: { true_count: 3 } } } })
    const scorer_refs = [await publish('cost', COST), await publish('latency', LATENCY)]
    const asked = { project_id: PROJECT, source_evaluation_run_id: call_id, scorer_refs }
    const { body } = await post('/evaluations/rescore', asked)
    const { output } = await ended(body.call_id)
    expect(output.cost).toEqual(first.output.cost)
    expect(output.latency).toMatchObject({ passed: { true_count: 3 } })
  })
})

describe('a prediction of a model that a provider serves under another name', () => {
  it('has the price of that name, once, wherever costs are shown', async () => {
    const backend = createScriptedBackend(HELLO)
    const model = { backend: { ...backend, findProvider: () => 'openai' } }
    const models = scriptedModels({ ...model, backendModel: 'gpt-4o-mini' })
    const app = await buildEvaluationApp({ deps: { models } })
    const { publish, evaluate, ended, post } = app
    const { call_id } = await evaluate({ cost: COST })
    const { output: first } = await ended(call_id)
    // Three rows, each three tokens in at $0.15 and two out at $0.60 a million.
    const each = 3 * 0.15e-6 + 2 * 0.6e-6
    expect(first.cost.cost_usd.mean).toBeCloseTo(each, 12)
    const scorer_refs = [await publish('cost', COST)]
    const asked = { project_id: PROJECT, source_evaluation_run_id: call_id, scorer_refs }
    const { output } = await ended((await post('/evaluations/rescore', asked)).body.call_id)
    expect(output.cost.cost_usd.mean).toBeCloseTo(each, 12)
    const results = await post(`/v2/${PROJECT}/eval_results/query`, {
      evaluation_call_ids: [call_id],
      include_costs: true,
      include_summary: true,
    })
    const [run] = results.body.summary.evaluations
    expect(run.predict_total_cost).toBeCloseTo(3 * each, 12)
    const stats = await post('/calls/stats', {
      project_id: PROJECT,
      start: '2020-01-01T00:00:00Z',
      granularity: 36_525 * 86_400,
      usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    })
    const [bucket] = stats.body.usage_buckets
    expect(bucket).toMatchObject({ sum_total_tokens: 15 })
    expect(bucket.sum_total_cost).toBeCloseTo(3 * each, 12)
  })
})
