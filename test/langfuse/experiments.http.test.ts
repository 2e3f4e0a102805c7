import { describe, expect, it } from 'vitest'
import { basic, buildTestApp } from '../support/build-test-app.ts'

const BASE = '/api/public'
const project = 'acme/demo'
const TRACE = '0af7651916cd43dd8448eb211c80319c'

interface SentSpan {
  readonly id: string
  readonly parent?: string
  readonly name: string
  readonly attributes?: Readonly<Record<string, string>>
}

async function openExperiments() {
  const app = await buildTestApp()
  const key = await app.createKey({ projects: [project] })
  const headers = { authorization: basic(app.key, project) }
  const langfuse = { key: null, headers }
  return {
    ...app,
    key,
    langfuse,
    async sendSpans(...sent: readonly SentSpan[]) {
      const spans = sent.map(({ id, parent, name, attributes = {} }) => ({
        traceId: TRACE,
        spanId: id,
        ...(parent === undefined ? {} : { parentSpanId: parent }),
        name,
        startTimeUnixNano: '1767225600000000000',
        endTimeUnixNano: '1767225601000000000',
        attributes: Object.entries(attributes).map(([name, stringValue]) => ({
          key: name,
          value: { stringValue },
        })),
      }))
      const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] }
      const { status } = await app.post(`${BASE}/otel/v1/traces`, body, langfuse)
      expect(status).toBe(200)
    },
    async results(run: string, fields = {}) {
      const body = { evaluation_call_ids: [run], include_rows: true, include_raw_data_rows: true }
      return (await app.post(`/v2/${project}/eval_results/query`, { ...body, ...fields })).body
    },
  }
}

const EXPERIMENT = {
  'langfuse.experiment.id': 'run1',
  'langfuse.experiment.name': 'Run 1',
  'langfuse.experiment.dataset.id': 'd',
  'langfuse.experiment.item.id': 'i1',
  'langfuse.experiment.item.expected_output': '"Paris"',
}
const ITEM: SentSpan = {
  id: '00000000000000a1',
  name: 'experiment-item-run',
  attributes: {
    ...EXPERIMENT,
    'langfuse.observation.input': '{"country":"France"}',
    'langfuse.observation.output': 'Paris',
  },
}
const TASK: SentSpan = {
  id: '00000000000000a2',
  parent: ITEM.id,
  name: 'experiment-item-task',
  attributes: EXPERIMENT,
}

describe('experiments of Langfuse’s SDKs', () => {
  it('are runs of an evaluation, with a trial for the span of each item', async () => {
    const { sendSpans, results, post } = await openExperiments()
    await sendSpans(ITEM, TASK)
    const { rows, summary } = await results('run1', { include_summary: true })
    expect(rows).toMatchObject([
      {
        raw_data_row: { id: 'i1', input: { country: 'France' }, expected_output: 'Paris' },
        evaluations: [{ trials: [{ model_output: 'Paris', scores: {} }] }],
      },
    ])
    expect(summary.evaluations).toMatchObject([
      {
        display_name: 'Run 1',
        model_ref: 'Run 1',
        evaluation_ref: `weave:///${project}/object/d:latest`,
      },
    ])
    const { body } = await post('/call/read', { project_id: project, id: 'run1' })
    expect(body.call).toMatchObject({ trace_id: 'run1', op_name: 'Evaluation.evaluate' })
  })

  it('have the scores of a trial and of the calls below it, whichever came first', async () => {
    const { sendSpans, results, post, langfuse } = await openExperiments()
    const score = (observationId: string, name: string, value: unknown) =>
      post(`${BASE}/scores`, { traceId: TRACE, observationId, name, value }, langfuse)
    await score(TASK.id, 'exact', 1)
    await sendSpans(ITEM, TASK)
    await score(ITEM.id, 'tone', 'kind')
    for (const include_predict_and_score_children of [true, false]) {
      const { rows } = await results('run1', { include_predict_and_score_children })
      expect(rows[0].evaluations[0].trials[0].scores).toEqual({ exact: 1, tone: 'kind' })
    }
  })

  it('that are sent twice stay one run with one trial', async () => {
    const { sendSpans, results, post } = await openExperiments()
    await sendSpans(ITEM)
    await sendSpans(ITEM)
    expect((await results('run1')).total_rows).toBe(1)
    expect((await post('/calls/query_stats', { project_id: project })).body.count).toBe(2)
  })

  it('leave other spans of the same name as they are', async () => {
    const { sendSpans, post } = await openExperiments()
    await sendSpans({ ...ITEM, attributes: {} })
    const { body } = await post('/call/read', { project_id: project, id: ITEM.id })
    expect(body.call).toMatchObject({ op_name: ITEM.name, parent_id: null })
  })

  it('begin with a run of the dataset, whose id is that of the Python SDK', async () => {
    const { sendSpans, post, get, langfuse } = await openExperiments()
    await post(`${BASE}/v2/datasets`, { name: 'd' }, langfuse)
    await post(`${BASE}/dataset-items`, { datasetName: 'd', id: 'i1', input: 1 }, langfuse)
    const body = {
      runName: 'Run 1',
      runDescription: 'D',
      metadata: { m: 1 },
      datasetItemId: 'i1',
      traceId: TRACE,
    }
    const linked = await post(`${BASE}/dataset-run-items`, body, langfuse)
    // As json.dumps and sha256 of Python 3.11 make it of the same four texts.
    expect(linked.body).toMatchObject({ datasetRunId: '7bd82c380c91f4fb', datasetItemId: 'i1' })
    const attributes = { ...ITEM.attributes, 'langfuse.experiment.id': linked.body.datasetRunId }
    await sendSpans({ ...ITEM, attributes })
    const run = await get(`${BASE}/datasets/d/runs/${encodeURIComponent('Run 1')}`, langfuse)
    expect(run.body).toMatchObject({
      name: 'Run 1',
      description: 'D',
      metadata: { m: 1 },
      datasetRunItems: [{ datasetItemId: 'i1', traceId: TRACE, observationId: ITEM.id }],
    })
    const runs = await get(`${BASE}/datasets/d/runs`, langfuse)
    expect(runs.body).toMatchObject({ data: [{ name: 'Run 1' }], meta: { totalItems: 1 } })
    const items = await get(`${BASE}/dataset-run-items?datasetId=d&runName=Run%201`, langfuse)
    expect(items.body.data).toEqual(run.body.datasetRunItems)
    const none = await get(`${BASE}/datasets/d/runs/none`, langfuse)
    expect(none).toMatchObject({
      status: 404,
      body: { message: 'There is no run "none" of this dataset.' },
    })
  })

  it('keep the digits of numbers in the metadata of a run, which items that come at once begin once', async () => {
    const { post, get, langfuse } = await openExperiments()
    await post(`${BASE}/v2/datasets`, { name: 'd' }, langfuse)
    await post(`${BASE}/dataset-items`, { datasetName: 'd', id: 'i1' }, langfuse)
    const sent = '{"runName":"r","datasetItemId":"i1","metadata":{"n":12345678901234567890}}'
    const items = Array.from({ length: 5 }, () => post(`${BASE}/dataset-run-items`, sent, langfuse))
    for (const { status } of await Promise.all(items)) expect(status).toBe(200)
    const runs = await get(`${BASE}/datasets/d/runs`, langfuse)
    expect(runs.body.meta.totalItems).toBe(1)
    expect(runs.text).toContain('"metadata":{"n":12345678901234567890}')
  })

  it('of an item that is unknown are refused', async () => {
    const { post, langfuse } = await openExperiments()
    const body = { runName: 'r', datasetItemId: 'none', traceId: TRACE }
    expect((await post(`${BASE}/dataset-run-items`, body, langfuse)).status).toBe(404)
  })
})

describe('every route of Langfuse’s API', () => {
  it.each<[method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object]>([
    ['GET', '/projects'],
    ['POST', '/scores', { traceId: 't', name: 'n', value: 1 }],
    ['POST', '/ingestion', { batch: [] }],
    ['GET', '/v2/scores'],
    ['GET', '/v3/scores'],
    ['GET', '/v2/scores/x'],
    ['DELETE', '/scores/x'],
    ['POST', '/v2/prompts', { name: 'n', prompt: 'p' }],
    ['GET', '/v2/prompts'],
    ['GET', '/v2/prompts/x'],
    ['PATCH', '/v2/prompts/x/versions/1', { newLabels: [] }],
    ['DELETE', '/v2/prompts/x'],
    ['POST', '/v2/datasets', { name: 'n' }],
    ['GET', '/v2/datasets'],
    ['GET', '/v2/datasets/x'],
    ['POST', '/dataset-items', { datasetName: 'x' }],
    ['GET', '/dataset-items?datasetName=x'],
    ['GET', '/dataset-items/x'],
    ['DELETE', '/dataset-items/x'],
    ['POST', '/dataset-run-items', { runName: 'r', datasetItemId: 'i' }],
    ['GET', '/dataset-run-items?datasetId=d&runName=r'],
    ['GET', '/datasets/x/runs'],
    ['GET', '/datasets/x/runs/r'],
  ] as const)(
    '%s %s refuses who has no key, no scope or another project',
    async (method, path, body) => {
      const { app, createKey } = await openExperiments()
      const send = async (authorization: string | null) =>
        app.inject({
          method,
          url: BASE + path,
          headers: authorization === null ? {} : { authorization },
          ...(body === undefined ? {} : { payload: body }),
        })
      const scopes = [method === 'GET' ? 'traces:write' : 'traces:read'] as const
      const codes = []
      for (const authorization of [
        null,
        basic(await createKey({ scopes }), project),
        basic(await createKey({ projects: ['other/project'] }), project),
      ]) {
        codes.push((await send(authorization)).json().error.code)
      }
      expect(codes).toEqual(['missing_api_key', 'scope_missing', 'project_forbidden'])
    },
  )

  it.each([
    ['POST', '/v2/prompts', { name: 'p', prompt: 'p' }],
    ['PATCH', '/v2/prompts/p/versions/1', { newLabels: [] }],
    ['POST', '/v2/datasets', { name: 'd' }],
    ['POST', '/dataset-items', { datasetName: 'd', id: 'i' }],
  ] as const)('%s %s responds with what is stored only to who may read it', async (...route) => {
    const { app, createKey } = await openExperiments()
    const [method, path, payload] = route
    const key = await createKey({ projects: [project], scopes: ['traces:write'] })
    const headers = { authorization: basic(key, project) }
    const { body } = await app.inject({ method, url: BASE + path, headers, payload })
    expect(JSON.parse(body).message).toContain('lacks the scope traces:read')
  })

  it('that is missing is a 404, which the SDKs do not repeat', async () => {
    const { get, langfuse } = await openExperiments()
    const { status, body } = await get(`${BASE}/comments`, langfuse)
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: 'unknown_url' })
    expect(body.message).toContain('docs/langfuse.md')
  })
})
