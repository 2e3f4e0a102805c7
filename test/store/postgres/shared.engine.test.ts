import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { createModel, JOBS_URL, jobOf } from '../../training/preview-fixtures.ts'
import { claim, createJobs, finish, tryClaim } from '../../training/worker-fixtures.ts'
import {
  hasClickHouse,
  makeDatabase as makeCallsDatabase,
} from '../clickhouse/clickhouse-server.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const project_id = 'acme/demo'

/** Two servers on one store. */
async function openTwo() {
  const clickhouse = { url: await makeCallsDatabase(), cluster: null }
  const settings = { store: 'clickhouse', clickhouse, metaUrl: await makeDatabase() } as const
  return [await buildTestApp(settings), await buildTestApp(settings)] as const
}

describe.skipIf(!hasClickHouse || !hasPostgres)('two servers on one store', () => {
  it('two servers share keys and prices, and a key revoked on one is soon refused by the other', async () => {
    const [one, other] = await openTwo()
    const rights = { svc_user_id: 'ada', scopes: ['traces:read'], projects: ['acme/demo'] }
    const { id, secret } = (await one.post('/v1/keys', rights)).body
    const costs = { 'my-model': { prompt_token_cost: 0.1, completion_token_cost: 0.2 } }
    expect((await one.post('/cost/create', { project_id, costs })).status).toBe(200)
    const read = () => other.post('/cost/query', { project_id }, { key: secret })
    expect((await read()).body.results).toMatchObject([{ llm_id: 'my-model' }])
    expect((await one.delete(`/v1/keys/${id}`)).status).toBe(200)
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe(401)
    expect((await other.get('/ready')).status).toBe(200)
  })

  it('two servers share objects, tables, files and the values of refs', async () => {
    const [one, other] = await openTwo()
    const object = { project_id, object_id: 'thing', val: { n: 1 } }
    const { digest } = (await one.post('/obj/create', { obj: object })).body
    const read = await other.post('/obj/read', { project_id, object_id: 'thing', digest: 'latest' })
    expect(read.body.obj).toMatchObject({ digest, val: { n: 1 }, version_index: 0 })
    const table = { project_id, rows: [{ k: 2 }, { k: 1 }] }
    const made = (await one.post('/table/create', { table })).body
    const rows = await other.post('/table/query', { project_id, digest: made.digest })
    expect(rows.body.rows).toMatchObject([{ val: { k: 2 } }, { val: { k: 1 } }])
    const inputs = { thing: `weave:///${project_id}/object/thing:${digest}` }
    const started_at = '2026-01-01T10:00:00Z'
    const call = { project_id, id: 'a', op_name: 'op', started_at, attributes: {}, inputs }
    expect((await one.post('/call/start', { start: call })).status).toBe(200)
    const listed = async (n: number) =>
      other.post('/calls/stream_query', {
        project_id,
        expand_columns: ['inputs.thing'],
        query: { $expr: { $eq: [{ $getField: 'inputs.thing.n' }, { $literal: n }] } },
      })
    expect(JSON.parse((await listed(1)).text)).toMatchObject({ id: 'a' })
    expect((await listed(2)).text).toBe('')
  })

  it('two servers share models, jobs and checkpoints, and assign each job once', async () => {
    const [one, other] = await openTwo()
    const { model_id, jobs } = await createJobs(one, 1)
    const claims = await Promise.all([tryClaim(one), tryClaim(other), tryClaim(one)])
    expect(claims.map(({ status }) => status).sort()).toEqual([200, 204, 204])
    const claimed = claims.find(({ status }) => status === 200)?.body
    expect(claimed.id).toBe(jobs[0])
    const lease = { headers: { 'x-weft-lease': claimed.lease_token } }
    const payload = await one.get(claimed.payload.url, lease)
    expect(payload.text).toHaveLength(claimed.payload.bytes)
    expect(await finish(other, claimed, 'some weights')).toMatchObject({ step: 1 })
    const listed = await one.get(`/v1/preview/models/${model_id}/checkpoints`)
    expect(listed.body.data).toMatchObject([{ step: 1 }])
    expect((await one.get(`${JOBS_URL}/${jobs[0]}`)).body.status).toBe('succeeded')
  })

  it('a job sent to one server wakes a worker of the other', async () => {
    const [one, other] = await openTwo()
    const model_id = await createModel(one)
    const waiting = claim(other, { wait_seconds: 30 })
    expect((await one.post(JOBS_URL, jobOf(model_id))).status).toBe(200)
    expect(await waiting).toMatchObject({ model: { id: model_id } })
  })

  it('two servers share annotation queues', async () => {
    const [one, other] = await openTwo()
    const started_at = '2026-01-01T10:00:00Z'
    const call = { project_id, id: 'a', op_name: 'op', started_at, attributes: {}, inputs: {} }
    expect((await one.post('/call/start', { start: call })).status).toBe(200)
    const queue = { project_id, name: 'q', scorer_refs: [] }
    const { id } = (await one.post('/annotation_queues', queue)).body
    const added = { project_id, call_ids: ['a'], display_fields: ['inputs'] }
    expect((await one.post(`/annotation_queues/${id}/items`, added)).status).toBe(200)
    const items = await other.post(`/annotation_queues/${id}/items/query`, { project_id })
    expect(items.body.items).toMatchObject([{ call_id: 'a', annotation_state: 'unstarted' }])
  })

  it('an export that one server has issued is downloaded from the other, once', async () => {
    const [one, other] = await openTwo()
    const key = await one.createKey({ scopes: ['traces:read'], projects: [project_id] })
    const issue = async () => (await one.post('/calls/exports', { project_id }, { key })).body.path
    const path = await issue()
    expect((await other.get(path, { key: null })).status).toBe(200)
    expect((await other.get(path, { key: null })).status).toBe(404)
    expect((await one.get(path, { key: null })).status).toBe(404)
    const revoked = await issue()
    await one.delete(`/v1/keys/${(await one.deps.keys.listKeys()).at(-1)?.id}`)
    expect((await other.get(revoked, { key: null })).status).toBe(404)
  })

  it('two servers share feedback, by which calls are found', async () => {
    const [one, other] = await openTwo()
    const time = '2026-01-01T10:00:00Z'
    const call = { project_id, id: 'a', op_name: 'op', started_at: time, attributes: {} }
    expect((await one.post('/call/start', { start: { ...call, inputs: {} } })).status).toBe(200)
    const weave_ref = `weave:///${project_id}/call/a`
    const feedback = { project_id, weave_ref, feedback_type: 't', payload: { n: 1 } }
    const { id } = (await one.post('/traces/feedback/create', feedback)).body
    const found = await other.post('/feedback/query', { project_id })
    expect(found.body.result).toMatchObject([{ id, weave_ref, payload: { n: 1 } }])
    const asked = (n: number) => ({
      project_id,
      query: {
        $expr: { $eq: [{ $getField: 'feedback.[t].payload.n' }, { $literal: n }] },
      },
    })
    const listed = await other.post('/calls/stream_query', asked(1))
    expect(JSON.parse(listed.text)).toMatchObject({ id: 'a' })
    expect((await other.post('/calls/stream_query', asked(2))).text).toBe('')
  })
})
