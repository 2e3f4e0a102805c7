import { describe, expect, it } from 'vitest'
import { BASE, openLangfuse, project, type SentSpan, TRACE } from './langfuse-spans.ts'

async function openExperiments() {
  const app = await openLangfuse()
  return {
    ...app,
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

  it('are deleted with their trials and tags, and the deletion is in the audit list', async () => {
    const { get, post, delete: remove, langfuse, sendSpans } = await openExperiments()
    await post(`${BASE}/v2/datasets`, { name: 'd' }, langfuse)
    await post(`${BASE}/dataset-items`, { datasetName: 'd', id: 'i1' }, langfuse)
    const sent = { runName: 'Run 1', datasetItemId: 'i1', traceId: TRACE }
    const { datasetRunId } = (await post(`${BASE}/dataset-run-items`, sent, langfuse)).body
    const experiment = { ...EXPERIMENT, 'langfuse.experiment.id': datasetRunId }
    await sendSpans({ ...ITEM, attributes: { ...ITEM.attributes, ...experiment } })
    const path = `${BASE}/datasets/d/runs/${encodeURIComponent('Run 1')}`
    expect((await get(path, langfuse)).body.datasetRunItems).toHaveLength(1)
    const tags = { project_id: 'acme/demo', call_ids: [datasetRunId], add: ['checked'] }
    expect((await post('/calls/tag', tags)).body).toMatchObject({ added_count: 1 })
    expect((await remove(path, langfuse)).status).toBe(200)
    const left = await post('/feedback/query', { project_id: 'acme/demo' })
    expect(left.body).toEqual({ result: [] })
    expect((await get(`${BASE}/datasets/d/runs`, langfuse)).body.data).toEqual([])
    expect((await get(`${BASE}/v2/observations`, langfuse)).body.data).toEqual([])
    const [entry] = (await get('/v1/audit')).body.data
    expect(entry).toMatchObject({ action: 'calls.delete', before: { call_ids: [datasetRunId] } })
    expect((await remove(path, langfuse)).status).toBe(404)
  })

  it('of an item that is unknown are refused', async () => {
    const { post, langfuse } = await openExperiments()
    const body = { runName: 'r', datasetItemId: 'none', traceId: TRACE }
    expect((await post(`${BASE}/dataset-run-items`, body, langfuse)).status).toBe(404)
  })
})
