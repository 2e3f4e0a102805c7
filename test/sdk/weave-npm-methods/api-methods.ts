/** The methods of the low-level client, which are the addresses that it asks. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { client, doubled, type Json, type Programs, project_id } from './client.ts'

const api: Json = client.traceServerApi
const NOW = '2026-01-31T09:30:00.000Z'
const start = (id: string) => ({
  project_id,
  id,
  trace_id: 'trace-1',
  op_name: 'by-hand',
  started_at: NOW,
  attributes: {},
  inputs: { x: 1 },
})
const end = (id: string) => ({ project_id, id, ended_at: NOW, output: 2, summary: {} })

let digest = ''
let fileDigest = ''
let tableDigest = ''
let costId = ''
let feedbackId = ''
const weave_ref = `weave:///${project_id}/call/${doubled.id}`

export const API: Programs = {
  'health.readRootHealthGet': async () => equal((await api.health.readRootHealthGet()).status, 200),
  async 'serverInfo.serverInfoServerInfoGet'() {
    ok((await api.serverInfo.serverInfoServerInfoGet()).data.min_required_weave_python_version)
  },
  async 'call.callStartCallStartPost'() {
    equal((await api.call.callStartCallStartPost({ start: start('one') })).data.id, 'one')
  },
  async 'call.callEndCallEndPost'() {
    await api.call.callEndCallEndPost({ end: end('one') })
    equal((await client.getCall('one')).output, 2)
  },
  async 'call.callStartBatchCallUpsertBatchPost'() {
    const batch = [
      { mode: 'start', req: { start: start('two') } },
      { mode: 'end', req: { end: end('two') } },
    ]
    await api.call.callStartBatchCallUpsertBatchPost({ batch })
    equal((await client.getCall('two')).output, 2)
  },
  async 'call.callUpdateCallUpdatePost'() {
    await api.call.callUpdateCallUpdatePost({ project_id, call_id: 'one', display_name: 'first' })
    equal((await client.getCall('one')).display_name, 'first')
  },
  async 'call.callReadCallReadPost'() {
    const { data } = await api.call.callReadCallReadPost({ project_id, id: 'two' })
    equal(data.call?.op_name, 'by-hand')
  },
  async 'calls.callsQueryStatsCallsQueryStatsPost'() {
    const filter = { trace_ids: ['trace-1'] }
    const { data } = await api.calls.callsQueryStatsCallsQueryStatsPost({ project_id, filter })
    equal(data.count, 2)
  },
  async 'calls.callsQueryStreamCallsStreamQueryPost'() {
    const asked = { project_id, filter: { call_ids: ['one'] } }
    const answer = await api.calls.callsQueryStreamCallsStreamQueryPost(asked, { format: 'text' })
    equal(JSON.parse(String(answer.data)).id, 'one')
  },
  async 'calls.callsDeleteCallsDeletePost'() {
    await api.calls.callsDeleteCallsDeletePost({ project_id, call_ids: ['one', 'two'] })
    deepEqual(await client.getCalls({ call_ids: ['one', 'two'] }), [])
  },
  async 'obj.objCreateObjCreatePost'() {
    const obj = { project_id, object_id: 'raw', val: { v: 1 } }
    digest = (await api.obj.objCreateObjCreatePost({ obj })).data.digest
  },
  async 'obj.objReadObjReadPost'() {
    const { data } = await api.obj.objReadObjReadPost({ project_id, object_id: 'raw', digest })
    deepEqual(data.obj.val, { v: 1 })
  },
  async 'objs.objsQueryObjsQueryPost'() {
    const { data } = await api.objs.objsQueryObjsQueryPost({
      project_id,
      filter: { object_ids: ['raw'] },
    })
    deepEqual(
      data.objs.map((one: Json) => one.digest),
      [digest],
    )
  },
  async 'refs.refsReadBatchRefsReadBatchPost'() {
    const refs = [`weave:///${project_id}/object/raw:${digest}/key/v`]
    deepEqual((await api.refs.refsReadBatchRefsReadBatchPost({ refs })).data.vals, [1])
  },
  async 'table.tableCreateTableCreatePost'() {
    const { data } = await api.table.tableCreateTableCreatePost({
      table: { project_id, rows: [{ n: 1 }] },
    })
    tableDigest = data.digest
  },
  async 'table.tableUpdateTableUpdatePost'() {
    const updates = [{ append: { row: { n: 2 } } }]
    const { data } = await api.table.tableUpdateTableUpdatePost({
      project_id,
      base_digest: tableDigest,
      updates,
    })
    tableDigest = data.digest
  },
  async 'table.tableQueryTableQueryPost'() {
    const { data } = await api.table.tableQueryTableQueryPost({ project_id, digest: tableDigest })
    deepEqual(
      data.rows.map(({ val }: Json) => val),
      [{ n: 1 }, { n: 2 }],
    )
  },
  async 'table.tableQueryStatsTableQueryStatsPost'() {
    const { data } = await api.table.tableQueryStatsTableQueryStatsPost({
      project_id,
      digest: tableDigest,
    })
    equal(data.count, 2)
  },
  async 'file.fileCreateFileCreatePost'() {
    const file = new File(['größe'], 'note.txt')
    fileDigest = (await api.file.fileCreateFileCreatePost({ project_id, file })).data.digest
  },
  async 'file.fileContentFileContentPost'() {
    const asked = { project_id, digest: fileDigest }
    equal((await api.file.fileContentFileContentPost(asked, { format: 'text' })).data, 'größe')
  },
  async 'cost.costCreateCostCreatePost'() {
    const costs = { m: { prompt_token_cost: 1, completion_token_cost: 2 } }
    const { data } = await api.cost.costCreateCostCreatePost({ project_id, costs })
    costId = String((data.ids as string[][])[0]?.[0])
  },
  async 'cost.costQueryCostQueryPost'() {
    const { data } = await api.cost.costQueryCostQueryPost({ project_id })
    deepEqual(
      data.results.map(({ id, llm_id }: Json) => [id, llm_id]),
      [[costId, 'm']],
    )
  },
  async 'cost.costPurgeCostPurgePost'() {
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: costId }] } }
    await api.cost.costPurgeCostPurgePost({ project_id, query })
    deepEqual((await api.cost.costQueryCostQueryPost({ project_id })).data.results, [])
  },
  async 'feedback.feedbackCreateFeedbackCreatePost'() {
    const sent = { project_id, weave_ref, feedback_type: 'custom', payload: { n: 1 } }
    feedbackId = (await api.feedback.feedbackCreateFeedbackCreatePost(sent)).data.id
  },
  async 'feedback.feedbackReplaceFeedbackReplacePost'() {
    const sent = { project_id, weave_ref, feedback_type: 'custom', payload: { n: 2 } }
    const { data } = await api.feedback.feedbackReplaceFeedbackReplacePost({
      ...sent,
      feedback_id: feedbackId,
    })
    feedbackId = data.id
  },
  async 'feedback.feedbackQueryFeedbackQueryPost'() {
    const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'custom' }] } }
    const { data } = await api.feedback.feedbackQueryFeedbackQueryPost({ project_id, query })
    deepEqual(
      data.result.map(({ payload }: Json) => payload),
      [{ n: 2 }],
    )
  },
  async 'feedback.feedbackPurgeFeedbackPurgePost'() {
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: feedbackId }] } }
    await api.feedback.feedbackPurgeFeedbackPurgePost({ project_id, query })
    equal(
      (await api.feedback.feedbackQueryFeedbackQueryPost({ project_id, query })).data.result.length,
      0,
    )
  },
}
