import { describe, expect, it, vi } from 'vitest'
import { toPersonPrincipal } from '../../src/domain/access/roles.ts'
import { ApiError } from '../../src/errors.ts'
import { PERSON } from '../support/person.ts'
import {
  createScriptedBackend,
  finish,
  NEVER,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'
import { buildEvaluationApp, CONTAINS, EQUALS, PROJECT } from './evaluation-app.ts'

describe('an evaluation on the server', () => {
  it('records the calls that the SDK records, and its summary', async () => {
    const { evaluate, ended, calls } = await buildEvaluationApp()
    const { call_id, evaluation_ref, model_ref } = await evaluate({ city: CONTAINS, exact: EQUALS })
    const summary = {
      city: { passed: { true_count: 1, true_fraction: 1 / 3 } },
      exact: { passed: { true_count: 2, true_fraction: 2 / 3 } },
      model_latency: { mean: expect.any(Number) },
    }
    expect(await ended(call_id)).toEqual({ code: 'complete', output: summary })
    const [run] = await calls({ call_ids: [call_id] })
    expect(run).toMatchObject({
      op_name: 'Evaluation.evaluate',
      parent_id: null,
      inputs: { self: evaluation_ref, model: model_ref },
      output: summary,
    })
    const below = await calls({ parent_ids: [call_id] })
    expect(below.map(({ op_name }) => op_name).toSorted()).toEqual([
      'Evaluation.predict_and_score',
      'Evaluation.predict_and_score',
      'Evaluation.predict_and_score',
      'Evaluation.summarize',
    ])
    const trial = below.find(({ output }) => output?.output === 'Say Paris')
    expect(trial).toMatchObject({
      trace_id: call_id,
      inputs: { example: expect.stringMatching(/\/object\/cities:.*\/attr\/rows\/id\//) },
      output: { scores: { city: { passed: true }, exact: { passed: true } } },
    })
    const parts = await calls({ parent_ids: [trial.id] })
    expect(parts.map(({ op_name }) => op_name).toSorted()).toEqual([
      'LLMStructuredCompletionModel.predict',
      'city',
      'exact',
    ])
    const predict = parts.find(({ op_name }) => op_name.endsWith('predict'))
    expect(predict).toMatchObject({
      inputs: { self: model_ref, question: 'Paris' },
      output: 'Say Paris',
      summary: { usage: { scripted: { prompt_tokens: 3, requests: 1 } } },
    })
    await expect
      .poll(async () => (await calls({ parent_ids: [predict.id] })).map(({ op_name }) => op_name))
      .toEqual(['chat.completions'])
  })

  it('counts the response of a fallback under the fallback', async () => {
    const failing = createScriptedBackend([new ApiError('upstream_error')])
    const spare = createScriptedBackend([prompt(), piece('Paris'), finish()])
    const models = scriptedModels(
      { backend: failing, fallbacks: ['scripted-1'] },
      { backend: spare },
    )
    const { evaluate, ended, calls } = await buildEvaluationApp({ deps: { models } })
    const { call_id } = await evaluate({ city: CONTAINS })
    await ended(call_id)
    const [trial] = await calls({ parent_ids: [call_id] })
    const parts = await calls({ parent_ids: [trial.id] })
    const predict = parts.find(({ op_name }) => op_name.endsWith('predict'))
    expect(predict.summary.usage).toEqual({
      'scripted-1': expect.objectContaining({ requests: 1 }),
    })
  })

  it('is shown as evaluations of the SDK are, with scores as feedback about the predictions', async () => {
    const { evaluate, ended, post, feedback } = await buildEvaluationApp()
    const { call_id } = await evaluate({ city: CONTAINS })
    await ended(call_id)
    const query = { evaluation_call_ids: [call_id], include_predict_and_score_children: true }
    const { body } = await post(`/v2/${PROJECT}/eval_results/query`, query)
    expect(body.rows).toHaveLength(3)
    const [trial] = body.rows[0].evaluations[0].trials
    expect(trial).toMatchObject({
      predict_call_id: expect.any(String),
      scorer_call_ids: { city: expect.any(String) },
      scores: { city: { passed: expect.any(Boolean) } },
    })
    const rows = await feedback()
    expect(rows).toHaveLength(3)
    expect(rows[0]).toMatchObject({
      feedback_type: 'wandb.runnable.city',
      payload: { output: { passed: expect.any(Boolean) } },
      runnable_ref: expect.stringContaining('/object/city:'),
      weave_ref: expect.stringContaining('/call/'),
    })
  })

  it('names its calls by the ops that the SDK published with it, by which that finds them', async () => {
    const { evaluate, ended, calls } = await buildEvaluationApp()
    const refOf = (name: string) => `weave:///${PROJECT}/op/Evaluation.${name}:v0`
    const ops = {
      evaluate: refOf('evaluate'),
      predict_and_score: refOf('predict_and_score'),
      summarize: refOf('evil'),
    }
    const { call_id } = await evaluate({}, ops)
    await ended(call_id)
    const named = await calls({ trace_ids: [call_id], op_names: [refOf('evaluate')] })
    expect(named.map(({ id }) => id)).toEqual([call_id])
    const below = (await calls({ parent_ids: [call_id] })).map(({ op_name }) => op_name)
    expect(new Set(below)).toEqual(new Set([ops.predict_and_score, 'Evaluation.summarize']))
  })

  it('repeats rows by its trials, and takes a published prompt before the template', async () => {
    const { publish, publishEvaluation, publishModel, post, ended, calls } =
      await buildEvaluationApp()
    const evaluation_ref = await publishEvaluation({}, { trials: 2 })
    const prompt = await publish('asking', {
      messages: [{ role: 'user', content: 'Ask {question}' }],
    })
    const latest = prompt.replace(/:\w+$/, ':latest')
    const model_ref = await publishModel({ default_params: { prompt: latest } })
    const { body } = await post('/evaluations/evaluate_model', {
      project_id: PROJECT,
      evaluation_ref,
      model_ref,
    })
    expect(await ended(body.call_id)).toMatchObject({ code: 'complete' })
    const outputs = (await calls({ parent_ids: [body.call_id] })).map(({ output }) => output.output)
    expect(outputs.filter(Boolean).toSorted()).toEqual(
      ['Oslo', 'Oslo', 'Paris', 'Paris', 'Rome', 'Rome'].map((city) => `Ask ${city}`),
    )
    await expect.poll(async () => (await calls({ input_refs: [prompt] })).length).toBe(6)
  })

  it('has a judge of the SDK score the output with fields of the row', async () => {
    const { publish, evaluate, ended, calls, backend } = await buildEvaluationApp({
      script: ({ request }) => {
        const text = JSON.stringify(request)
        return text.includes('Judge')
          ? [piece('{"score": 0.5}', { finish_reason: 'stop' })]
          : [piece('yes', { finish_reason: 'stop' })]
      },
    })
    const model = await publish('judge-model', {
      _type: 'LLMStructuredCompletionModel',
      llm_model_id: 'scripted',
      default_params: { response_format: 'json_object' },
    })
    const judge = {
      _type: 'LLMAsAJudgeScorer',
      _class_name: 'LLMAsAJudgeScorer',
      _bases: ['Scorer', 'Object', 'BaseModel'],
      // As the SDK publishes it: by its ref.
      model,
      scoring_prompt: 'Judge {output} for {question}',
    }
    const { call_id } = await evaluate({ quality: judge })
    expect(await ended(call_id)).toMatchObject({
      output: { quality: { score: { mean: 0.5 } } },
    })
    const asked = backend.calls.map(({ request }) => JSON.stringify(request))
    expect(asked.some((text) => text.includes('Judge yes for Paris'))).toBe(true)
    await expect.poll(async () => (await calls({ op_names: ['weft.judge'] })).length).toBe(3)
  })

  it('records a prediction and a score that failed, and goes on', async () => {
    const { evaluate, ended, calls } = await buildEvaluationApp({
      script: ({ request }) => {
        const text = JSON.stringify(request)
        if (text.includes('Rome')) throw new Error('broken')
        return [piece(text.includes('Oslo') ? 'Oslo' : '{"a":1}', { finish_reason: 'stop' })]
      },
    })
    const cost = { kind: 'rule', rule: { type: 'cost', max_usd: 1 } }
    const { call_id } = await evaluate({ cost })
    expect(await ended(call_id)).toMatchObject({ code: 'complete' })
    const failed = await calls({ op_names: ['LLMStructuredCompletionModel.predict'] })
    expect(failed.filter(({ exception }) => exception !== null)).toHaveLength(1)
    const trials = (await calls({ parent_ids: [call_id] })).filter(({ op_name }) =>
      op_name.endsWith('score'),
    )
    expect(trials.map(({ output }) => output.scores)).toEqual([
      { cost: {} },
      { cost: {} },
      { cost: {} },
    ])
  })

  it.each<[string, string, object, object]>([
    [
      'a model with code',
      'model_ref',
      {},
      { llm_model_id: undefined, predict: 'weave:///acme/demo/op/x:v0' },
    ],
    ['a parameter that it would drop', 'model_ref', {}, { default_params: { n_times: 3 } }],
    ['code that prepares inputs', 'evaluation_ref', { preprocess_model_input: 'code' }, {}],
    ['a scorer with code', 'evaluation_ref', { scorers: ['code'] }, {}],
    ['a model that is not served', 'model', {}, { llm_model_id: 'none' }],
  ])('refuses %s at once', async (_, param, evaluation, model) => {
    const { publish, publishEvaluation, publishModel, post } = await buildEvaluationApp()
    const scorers =
      'scorers' in evaluation
        ? [await publish('s', { _type: 'MyScorer', score: 'weave:///acme/demo/op/x:v0' })]
        : []
    const evaluation_ref = await publishEvaluation(
      {},
      { ...evaluation, ...('scorers' in evaluation ? { scorers } : {}) },
    )
    const model_ref = await publishModel(model)
    const asked = { project_id: PROJECT, evaluation_ref, model_ref }
    const { status, body } = await post('/evaluations/evaluate_model', asked)
    expect([status, body.error.param]).toEqual([param === 'model' ? 404 : 422, param])
  })

  it('needs the right to infer, and reads no objects of other projects', async () => {
    const { publishEvaluation, publishModel, post, createKey } = await buildEvaluationApp()
    const asked = {
      project_id: PROJECT,
      evaluation_ref: await publishEvaluation({}),
      model_ref: await publishModel(),
    }
    const tracer = await createKey({ scopes: ['traces:read', 'traces:write'] })
    const refused = await post('/evaluations/evaluate_model', asked, { key: tracer })
    expect(refused.body.error.code).toBe('scope_missing')
    const other = await createKey({ projects: ['acme/other'] })
    const elsewhere = { ...asked, project_id: 'acme/other' }
    const unseen = await post('/evaluations/evaluate_model', elsewhere, { key: other })
    expect(unseen.body.error.code).toBe('object_not_found')
  })
})

describe('an evaluation whose refs name versions by an alias', () => {
  it('records the versions that it has run', async () => {
    const { publish, publishEvaluation, publishModel, post, calls, ended, feedback } =
      await buildEvaluationApp()
    const first = await publishEvaluation({ city: CONTAINS })
    const latest = (ref: string) => ref.replace(/:[^:]+$/, ':latest')
    const stored = await post('/obj/read', {
      project_id: PROJECT,
      object_id: 'cities-evaluation',
      digest: first.split(':').at(-1),
    })
    const { dataset, scorers } = stored.body.obj.val
    const named = { dataset: latest(dataset), scorers: scorers.map(latest) }
    const evaluation = await publish('by-alias', { _type: 'Evaluation', ...named })
    const model = await publishModel()
    const refs = { evaluation_ref: latest(evaluation), model_ref: latest(model) }
    const { body } = await post('/evaluations/evaluate_model', { project_id: PROJECT, ...refs })
    await ended(body.call_id)
    await publishModel({ description: 'newer' })
    const [run] = await calls({ call_ids: [body.call_id] })
    expect(run.inputs).toMatchObject({ self: evaluation, model })
    const [trial] = await calls({ op_names: ['Evaluation.predict_and_score'] })
    expect(trial.inputs.example).toContain(dataset)
    expect((await feedback())[0]).toMatchObject({ runnable_ref: scorers[0] })
    const again = { source_evaluation_run_id: body.call_id, scorer_refs: named.scorers }
    const rescored = await post('/evaluations/rescore', { project_id: PROJECT, ...again })
    await ended(rescored.body.call_id)
    const [score] = (await calls({ trace_ids: [rescored.body.call_id] })).filter(
      ({ op_name }) => op_name === 'city',
    )
    expect(score.inputs.self).toBe(scorers[0])
  })
})

describe('who began an evaluation', () => {
  it.each([
    ['and is a developer still, has it run', 'developer', 'complete'],
    ['and is a viewer by now, has it fail', 'viewer', 'failed'],
  ] as const)('%s', async (_, role, code) => {
    const { deps, ended, evaluate } = await buildEvaluationApp()
    const { call_id: _id, ...refs } = await evaluate({})
    const person = { ...PERSON, grants: [{ role, projects: [PROJECT] }] }
    await deps.people.createPerson(person)
    const { grants: _grants, ...principal } = toPersonPrincipal(person)
    await deps.evaluationJobs.createJob({
      id: 'job',
      project_id: PROJECT,
      work: { kind: 'evaluate', ...refs },
      principal: { ...principal, scopes: ['inference', 'traces:read'], projects: [PROJECT] },
      created_at_us: 1_000_000,
      state: 'running',
      completed_rows: 0,
      total_rows: 3,
      attempts: 0,
      error: null,
      output_json: null,
    })
    // A request wakes the runner.
    await evaluate({})
    expect(await ended('job')).toMatchObject({ code })
  })
})

describe('an evaluation whose process ends', () => {
  const down = () => new ApiError('store_unavailable')

  async function start() {
    const app = await buildEvaluationApp()
    const { deps, evaluate, ended, calls } = app
    /** Has another process take the job over. @returns how the job and its run have ended */
    const takeOver = async (call_id: string) => {
      await deps.evaluationJobs.releaseAll()
      await evaluate({})
      return [await ended(call_id), (await calls({ call_ids: [call_id] }))[0]]
    }
    return { ...app, takeOver }
  }

  it('before its failed run has ended, ends both', async () => {
    const { deps, evaluate, takeOver } = await start()
    vi.spyOn(deps.calls, 'writeParts').mockRejectedValue(new ApiError('internal_error'))
    const endCall = vi.spyOn(deps.calls, 'endCall').mockRejectedValueOnce(down())
    const { call_id } = await evaluate({})
    await expect.poll(() => endCall.mock.settledResults.length).toBe(1)
    const error = expect.stringContaining('internal_error')
    expect(await takeOver(call_id)).toMatchObject([{ code: 'failed', error }, { exception: error }])
  })

  it('before the job of its failed run is finished, has failed', async () => {
    const { deps, evaluate, takeOver } = await start()
    vi.spyOn(deps.calls, 'writeParts').mockRejectedValueOnce(new ApiError('internal_error'))
    const finishJob = vi.spyOn(deps.evaluationJobs, 'finishJob').mockRejectedValueOnce(down())
    const { call_id } = await evaluate({})
    await expect.poll(() => finishJob.mock.settledResults.length).toBe(1)
    const error = expect.stringContaining('internal_error')
    expect(await takeOver(call_id)).toMatchObject([{ code: 'failed', error }, { exception: error }])
  })
})

describe('a cancelled evaluation', () => {
  it('is cancelled by a repeat of a request that failed in between', async () => {
    const { deps, evaluate, status, post, calls } = await buildEvaluationApp({
      script: () => [NEVER],
    })
    const { call_id } = await evaluate({})
    const cancel = () => post('/evaluations/cancel', { project_id: PROJECT, call_id })
    vi.spyOn(deps.calls, 'endCall').mockRejectedValueOnce(new ApiError('store_unavailable'))
    expect((await cancel()).status).toBe(503)
    expect((await cancel()).body).toEqual({ cancelled: true })
    expect(await status(call_id)).toEqual({ code: 'failed', error: 'cancelled' })
    expect(await calls({ call_ids: [call_id] })).toMatchObject([{ exception: 'cancelled' }])
  })

  it('has failed, its run has an exception, and its requests end', async () => {
    const { evaluate, status, post, calls, backend } = await buildEvaluationApp({
      script: () => [NEVER],
    })
    const { call_id } = await evaluate({ city: CONTAINS })
    await expect.poll(() => backend.runningCount()).toBe(3)
    expect(await status(call_id)).toEqual({ code: 'running', completed_rows: 0, total_rows: 3 })
    const cancel = () => post('/evaluations/cancel', { project_id: PROJECT, call_id })
    expect((await cancel()).body).toEqual({ cancelled: true })
    expect((await cancel()).body).toEqual({ cancelled: false })
    expect(await status(call_id)).toEqual({ code: 'failed', error: 'cancelled' })
    expect(await calls({ call_ids: [call_id] })).toMatchObject([{ exception: 'cancelled' }])
    await expect.poll(() => backend.runningCount(), { timeout: 10_000 }).toBe(0)
  })

  it('of another project, or unknown, is not found', async () => {
    const { evaluate, ended, post } = await buildEvaluationApp()
    const { call_id } = await evaluate({})
    await ended(call_id)
    const elsewhere = { project_id: 'acme/other', call_id }
    expect((await post('/evaluations/status', elsewhere)).body).toEqual({
      status: { code: 'not_found' },
    })
    expect((await post('/evaluations/cancel', elsewhere)).body).toEqual({ cancelled: false })
  })
})
