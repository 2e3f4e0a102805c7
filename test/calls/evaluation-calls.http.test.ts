import { describe, expect, it } from 'vitest'
import { createRunOutput } from '../../src/domain/calls/evaluations/evaluation-calls.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = 'acme/demo'
const EVALUATION = `weave:///${PROJECT}/object/exam:abc`
const MODEL = `weave:///${PROJECT}/object/bot:abc`
const SCORER = `weave:///${PROJECT}/object/stars:abc`
const TIME = expect.stringMatching(/Z$/)

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** A run with two predictions, each with a score. */
async function evaluate({ post }: Pick<TestApp, 'post'>, root = '') {
  const base = `${root}/v2/${PROJECT}`
  const made = async (path: string, body: object): Promise<string> => {
    const { status, body: response } = await post(`${base}/${path}`, body)
    expect([path, status]).toEqual([path, 200])
    return Object.values(response)[0] as string
  }
  const run = await made('evaluation_runs', { evaluation: EVALUATION, model: MODEL })
  const predictions: string[] = []
  const scores: string[] = []
  for (const n of [1, 2]) {
    const inputs = { n, wb_user_id: 'mine' }
    const more = { evaluation_run_id: run }
    const prediction = await made('predictions', { model: MODEL, inputs, output: n * 10, ...more })
    const score = { prediction_id: prediction, scorer: SCORER, value: n, ...more }
    predictions.push(prediction)
    scores.push(await made('scores', score))
    const { body } = await post(`${base}/predictions/${prediction}/finish`, {})
    expect(body).toEqual({ success: true })
  }
  return { base, run, predictions, scores }
}

it('a run has the means of scores that no double can sum', () => {
  const means = createRunOutput()
  for (const output of [1e308, 1e308, 'none']) means.add({ output, scores: { huge: -1.5e308 } })
  expect(means.output()).toEqual({ output: { mean: 1e308 }, huge: { mean: -1.5e308 } })
})

it('a run has the means of numbers whose texts are kept', () => {
  const means = createRunOutput()
  const scores = { zero: JSON.rawJSON('-0.0'), long: JSON.rawJSON('0.50000000000000000001') }
  means.add({ output: JSON.rawJSON('9007199254740993'), scores })
  means.add({ output: 'none', scores: { zero: 1, long: 1 } })
  const expected = { output: { mean: 2 ** 53 }, zero: { mean: 0.5 }, long: { mean: 0.75 } }
  expect(means.output()).toEqual(expected)
})

describe.each(['', '/traces'])('runs of evaluations below %s/', (root) => {
  const user = root === '' ? { svc_user_id: 'u-1' } : { wb_user_id: 'u-1' }

  it('are recorded as calls and finished with means', async () => {
    const app = await buildTestApp()
    const { base, run } = await evaluate(app, root)
    const shown = {
      evaluation_run_id: run,
      evaluation: EVALUATION,
      model: MODEL,
      status: 'running',
      source_evaluation_run_id: null,
      started_at: TIME,
      finished_at: null,
      summary: {},
    }
    expect((await app.get(`${base}/evaluation_runs/${run}`)).body).toEqual(shown)
    for (const summary of [{ of: 'us' }, { again: 1 }]) {
      const { body } = await app.post(`${base}/evaluation_runs/${run}/finish`, { summary })
      expect(body).toEqual({ success: true })
    }
    expect((await app.get(`${base}/evaluation_runs/${run}`)).body).toEqual({
      ...shown,
      status: 'success',
      finished_at: TIME,
      summary: { of: 'us' },
    })
    const { body } = await app.post('/call/read', { project_id: PROJECT, id: run })
    expect(body.call).toMatchObject({
      op_name: 'Evaluation.evaluate',
      parent_id: null,
      trace_id: run,
      output: { output: { mean: 15 }, stars: { mean: 1.5 } },
    })
    const query = { project_id: PROJECT, filter: { trace_ids: [run] } }
    const calls = linesOf((await app.post('/calls/stream_query', query)).text)
    expect(calls.map(({ op_name }) => op_name).sort()).toEqual([
      ...['Evaluation.evaluate', 'Evaluation.predict_and_score', 'Evaluation.predict_and_score'],
      ...['Model.predict', 'Model.predict', 'Scorer.score', 'Scorer.score'],
    ])
    const above = calls.filter(({ op_name }) => op_name === 'Evaluation.predict_and_score')
    expect(above.map(({ output }) => output.scores)).toEqual([{ stars: 1 }, { stars: 2 }])
    expect(above.every(({ ended_at }) => ended_at !== null)).toBe(true)
  })

  it('are finished, as predictions are, by the first of several requests', async () => {
    const { post } = await buildTestApp()
    const { base, run } = await evaluate({ post }, root)
    const inputs = { model: MODEL, inputs: {}, output: 1, evaluation_run_id: run }
    const { prediction_id } = (await post(`${base}/predictions`, inputs)).body
    for (const path of [`predictions/${prediction_id}`, `evaluation_runs/${run}`]) {
      const finish = () => post(`${base}/${path}/finish`, {})
      const responses = await Promise.all(Array.from({ length: 5 }, finish))
      expect(responses.map(({ body }) => body)).toEqual(Array(5).fill({ success: true }))
    }
  })

  it('have predictions and scores that are read and listed', async () => {
    const app = await buildTestApp()
    const { base, run, predictions, scores } = await evaluate(app, root)
    const prediction = {
      prediction_id: predictions[0],
      model: MODEL,
      inputs: { n: 1, wb_user_id: 'mine' },
      output: 10,
      evaluation_run_id: run,
      ...user,
    }
    const score = {
      score_id: scores[0],
      scorer: SCORER,
      value: 1,
      evaluation_run_id: run,
      ...user,
    }
    expect((await app.get(`${base}/predictions/${predictions[0]}`)).body).toEqual(prediction)
    expect((await app.get(`${base}/scores/${scores[0]}`)).body).toEqual(score)
    const list = async (path: string) => linesOf((await app.get(`${base}/${path}`)).text)
    expect((await list('predictions'))[0]).toEqual(prediction)
    expect(await list(`predictions?evaluation_run_id=${run}`)).toHaveLength(2)
    expect(await list('predictions?evaluation_run_id=none')).toEqual([])
    expect((await list('scores?limit=1&offset=1')).map((each) => each.value)).toEqual([2])
    expect(await list('scores?limit=0')).toEqual([])
    const runs = async (query: string) => (await list(`evaluation_runs?${query}`)).length
    expect(await runs(`models=${MODEL}&evaluations=${EVALUATION}`)).toBe(1)
    expect(await runs(`models=${SCORER}&models=${EVALUATION}`)).toBe(0)
    expect(await runs(`evaluation_run_ids=${run}&evaluation_run_ids=other`)).toBe(1)
  })

  it('are deleted with the calls below them, and only by the route of their kind', async () => {
    const app = await buildTestApp()
    const { base, run, predictions, scores } = await evaluate(app, root)
    const remove = async (path: string) => (await app.delete(`${base}/${path}`)).body
    expect(await remove(`scores?score_ids=${run}`)).toEqual({ num_deleted: 0 })
    const [one = ''] = predictions
    const ids = `prediction_ids=${one}&prediction_ids=none&prediction_ids=${one}`
    expect(await remove(`predictions?${ids}`)).toEqual({ num_deleted: 1 })
    expect((await app.get(`${base}/predictions/${one}`)).body.error.code).toBe('call_not_found')
    expect((await app.get(`${base}/scores/${scores[0]}`)).body.error.code).toBe('call_not_found')
    const asked = { evaluation_run_ids: [run], include_summary: true }
    const { summary } = (await app.post(`${base}/eval_results/query`, asked)).body
    expect(summary.evaluations[0].trial_count).toBe(1)
    await app.post(`${base}/evaluation_runs/${run}/finish`, {})
    const { call } = (await app.post('/call/read', { project_id: PROJECT, id: run })).body
    expect(call.output).toEqual({ output: { mean: 20 }, stars: { mean: 2 } })
    expect(await remove(`evaluation_runs?evaluation_run_ids=${run}`)).toEqual({ num_deleted: 1 })
    expect(linesOf((await app.get(`${base}/predictions`)).text)).toEqual([])
  })
})

/** The calls of a run with one example, as weave 0.54 (Python) and npm weave 0.11 record them. */
const SDK_RUNS = {
  'Evaluation of Python': {
    trial: 'Evaluation.predict_and_score',
    predict: { op: 'M.predict', inputs: { self: MODEL, question: 'a' } },
    score: { op: 'right', inputs: { expected: 'A', output: 'A' } },
    model: MODEL,
    shown: { model: MODEL, inputs: { question: 'a' } },
    scorer: `weave:///${PROJECT}/op/right:abc`,
  },
  'EvaluationLogger of Python': {
    trial: 'Evaluation.predict_and_score',
    predict: { op: 'Model.predict', inputs: { self: MODEL, inputs: { question: 'a' } } },
    score: {
      op: 'stars',
      inputs: { self: SCORER, output: 'A', inputs: { question: 'a' } },
      attributes: { _weave_eval_meta: { imperative: true, score: true } },
    },
    model: MODEL,
    shown: { model: MODEL, inputs: { question: 'a' } },
    scorer: SCORER,
  },
  'Evaluation of npm': {
    trial: 'Evaluation.predictAndScore',
    predict: { op: 'model', inputs: { arg0: { datasetRow: 'row' } } },
    score: { op: 'isRight', inputs: { arg0: { datasetRow: 'row', modelOutput: 'A' } } },
    model: `weave:///${PROJECT}/op/model:abc`,
    shown: { model: `weave:///${PROJECT}/op/model:abc`, inputs: { datasetRow: 'row' } },
    scorer: `weave:///${PROJECT}/op/isRight:abc`,
  },
}

describe.each(Object.entries(SDK_RUNS))('a run of the %s', (_, recorded) => {
  const base = `/v2/${PROJECT}`

  async function record({ post }: Pick<TestApp, 'post'>) {
    const add = async (id: string, parent_id: string | null, op: string, fields: object) => {
      const op_name = `weave:///${PROJECT}/op/${op}:abc`
      const named = { project_id: PROJECT, id, trace_id: 'trace' }
      const started_at = `2026-01-01T00:00:0${'0123'.at(['run', 'trial', 'predict', 'score'].indexOf(id))}Z`
      const { output = null, ...start } = { attributes: {}, ...fields } as Record<string, unknown>
      await post('/call/start', { start: { ...named, parent_id, op_name, started_at, ...start } })
      const end = { project_id: PROJECT, id, ended_at: '2026-01-01T00:01:00Z', summary: {}, output }
      await post('/call/end', { end })
    }
    const { trial, predict, score, model } = recorded
    await add('run', null, 'Evaluation.evaluate', { inputs: { self: EVALUATION, model } })
    const inputs = { self: EVALUATION, model, example: 'row' }
    await add('trial', 'run', trial, { inputs, output: { output: 'A', scores: {} } })
    await add('predict', 'trial', predict.op, { inputs: predict.inputs, output: 'A' })
    const { op, ...fields } = score
    await add('score', 'trial', op, { ...fields, output: true })
  }

  it('is read as a run, a prediction and a score', async () => {
    const app = await buildTestApp()
    await record(app)
    const run = {
      evaluation_run_id: 'run',
      evaluation: EVALUATION,
      model: recorded.model,
      source_evaluation_run_id: null,
      status: 'success',
      started_at: TIME,
      finished_at: TIME,
      summary: {},
    }
    expect((await app.get(`${base}/evaluation_runs/run`)).body).toEqual(run)
    expect(linesOf((await app.get(`${base}/evaluation_runs`)).text)).toEqual([run])
    const common = { evaluation_run_id: 'run', svc_user_id: 'u-1' }
    expect((await app.get(`${base}/predictions/predict`)).body).toEqual({
      prediction_id: 'predict',
      ...recorded.shown,
      output: 'A',
      ...common,
    })
    const { scorer } = recorded
    const score = { score_id: 'score', scorer, value: true, ...common }
    expect((await app.get(`${base}/scores/score`)).body).toEqual(score)
    for (const path of [
      'predictions/score',
      'scores/predict',
      'predictions/trial',
      'predictions/run',
    ]) {
      expect([path, (await app.get(`${base}/${path}`)).status]).toEqual([path, 404])
    }
  })

  it('takes scores of its predictions, within the run and outside', async () => {
    const app = await buildTestApp()
    await record(app)
    for (const evaluation_run_id of ['run', null]) {
      const body = { prediction_id: 'predict', scorer: 'mine', value: 0.5, evaluation_run_id }
      const made = await app.post(`${base}/scores`, body)
      expect(made.status).toBe(200)
      const id = made.body.score_id
      const score = { score_id: id, scorer: 'mine', value: 0.5, evaluation_run_id }
      expect((await app.get(`${base}/scores/${id}`)).body).toEqual({ ...score, svc_user_id: 'u-1' })
      const { body: read } = await app.post('/call/read', { project_id: PROJECT, id })
      expect(read.call).toMatchObject({
        parent_id: evaluation_run_id && 'trial',
        trace_id: evaluation_run_id ? 'trace' : id,
        inputs: { self: 'mine', inputs: recorded.shown.inputs, output: 'A' },
      })
    }
    const { text } = await app.get(`${base}/scores?evaluation_run_id=run`)
    expect(linesOf(text).map(({ scorer }) => scorer)).toEqual(['mine'])
  })
})

describe('predictions and scores', () => {
  it('stand alone without a run', async () => {
    const { post, get } = await buildTestApp()
    const base = `/v2/${PROJECT}`
    const made = await post(`${base}/predictions`, { model: MODEL, inputs: {}, output: null })
    const { prediction_id } = made.body
    const score = { prediction_id, scorer: SCORER, value: { good: true } }
    const { score_id } = (await post(`${base}/scores`, score)).body
    expect((await get(`${base}/scores/${score_id}`)).body).toMatchObject({
      value: { good: true },
      evaluation_run_id: null,
    })
    const finished = await post(`${base}/predictions/${prediction_id}/finish`, {})
    expect(finished.body).toEqual({ success: true })
  })

  // The routes behind weave 0.54 take any text.
  it('belong to evaluations and models that are named by any text', async () => {
    const { post, get } = await buildTestApp()
    const base = `/v2/${PROJECT}`
    const named = { evaluation: 'nightly exam', model: 'gpt-4o' }
    const { evaluation_run_id } = (await post(`${base}/evaluation_runs`, named)).body
    expect((await get(`${base}/evaluation_runs/${evaluation_run_id}`)).body).toMatchObject(named)
    const given = { model: 'gpt-4o', inputs: {}, output: 1, evaluation_run_id }
    const { prediction_id } = (await post(`${base}/predictions`, given)).body
    expect((await get(`${base}/predictions/${prediction_id}`)).body.model).toBe('gpt-4o')
    const listed = async (query: string) =>
      linesOf((await get(`${base}/evaluation_runs?${query}`)).text).length
    expect(await listed('models=gpt-4o&evaluations=nightly%20exam')).toBe(1)
    expect(await listed('models=gpt-4')).toBe(0)
  })

  it('refuse unknown predictions and runs, and bad fields, by their path', async () => {
    const { post, get } = await buildTestApp()
    const { base, run, predictions } = await evaluate({ post })
    const prediction = { model: MODEL, inputs: {}, output: 1 }
    const score = { prediction_id: predictions[0], scorer: SCORER, value: 1 }
    const bad = [
      ['predictions', { ...prediction, evaluation_run_id: 'none' }, 404, 'evaluation_run_id'],
      ['scores', { ...score, prediction_id: run }, 404, 'prediction_id'],
      ['scores', { ...score, evaluation_run_id: predictions[0] }, 404, 'evaluation_run_id'],
      [`predictions/${run}/finish`, {}, 404, 'prediction_id'],
      ['evaluation_runs/none/finish', {}, 404, 'evaluation_run_id'],
      ['evaluation_runs', { evaluation: '', model: MODEL }, 422, 'evaluation'],
      ['evaluation_runs', { evaluation: EVALUATION, model: 'a\nb' }, 422, 'model'],
      ['predictions', { ...prediction, model: 'x'.repeat(2049) }, 422, 'model'],
      ['predictions', { model: MODEL, inputs: {} }, 422, 'output'],
      ['scores', { prediction_id: 'p', scorer: SCORER }, 422, 'value'],
    ] as const
    for (const [path, body, status, param] of bad) {
      const response = await post(`${base}/${path}`, body)
      expect([path, response.status, response.body.error?.param]).toEqual([path, status, param])
    }
    for (const text of ['-1', '1001', '', '%201', '0x10', '1e1', '1.0', '01']) {
      const listed = await get(`${base}/predictions?limit=${text}`)
      expect([text, listed.status, listed.body?.error.param]).toEqual([text, 422, 'limit'])
    }
  })

  it('need their scope and the project', async () => {
    const app = await buildTestApp()
    const { base, run, predictions, scores } = await evaluate(app)
    const keys = [
      await app.createKey({ scopes: ['traces:read'] }),
      await app.createKey({ scopes: ['traces:write'] }),
    ]
    const elsewhere = await app.createKey({ projects: ['acme/other'] })
    const bodies: Readonly<Record<string, object>> = {
      evaluation_runs: { evaluation: EVALUATION, model: MODEL },
      predictions: { model: MODEL, inputs: {}, output: 1 },
      scores: { prediction_id: predictions[0], scorer: SCORER, value: 1 },
    }
    const ids = { evaluation_runs: run, predictions: predictions[0], scores: scores[0] }
    for (const [path, id] of Object.entries(ids)) {
      const url = `${base}/${path}`
      const word = path.slice(0, -1)
      const requests = [
        (key: string | null) => app.post(url, bodies[path], { key }),
        (key: string | null) => app.delete(`${url}?${word}_ids=${id}`, { key }),
        (key: string | null) => app.post(`${url}/${id}/finish`, {}, { key }),
        (key: string | null) => app.get(url, { key }),
        (key: string | null) => app.get(`${url}/${id}`, { key }),
      ].filter((_send, at) => at !== 2 || path !== 'scores')
      for (const [at, send] of requests.entries()) {
        const wrong = at < requests.length - 2 ? keys[0] : keys[1]
        const codes = []
        for (const key of [null, wrong ?? null, elsewhere]) {
          codes.push((await send(key)).body?.error?.code)
        }
        expect([url, at, ...codes]).toEqual([
          ...[url, at, 'missing_api_key', 'scope_missing', 'project_forbidden'],
        ])
      }
    }
  })
})
