import { describe, expect, it } from 'vitest'
import { NEVER, piece } from '../support/scripted-backend.ts'
import { buildEvaluationApp, CONTAINS, EQUALS, PROJECT } from './evaluation-app.ts'

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
})
