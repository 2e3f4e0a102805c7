import { describe, expect, it } from 'vitest'
import { basic, buildTestApp, type TestApp } from '../support/build-test-app.ts'

const BASE = '/api/public'
const project = 'acme/demo'
const TRACE = '0af7651916cd43dd8448eb211c80319c'

async function openLangfuse() {
  const app = await buildTestApp()
  const key = await app.createKey({ projects: [project] })
  return { app, key }
}

function list({ app, key }: { app: TestApp; key: string }, query = '') {
  return app.get(`${BASE}/v3/scores${query}`, { key })
}

describe('scores of Langfuse’s SDKs', () => {
  it('are stored from a list and from an event, and listed in both shapes', async () => {
    const { app, key } = await openLangfuse()
    const sent = [
      { id: 's1', traceId: TRACE, name: 'accuracy', value: 0.5, timestamp: '2026-01-02T00:00:00Z' },
      {
        id: 's2',
        traceId: TRACE,
        observationId: 'b7ad6b7169203331',
        name: 'ok',
        value: 1,
        dataType: 'BOOLEAN',
        timestamp: '2026-01-01T00:00:00Z',
      },
    ]
    const created = await app.post(`${BASE}/scores`, sent, { key })
    expect(created).toMatchObject({ status: 202, body: { message: 'Accepted' } })
    const body = {
      id: 's3',
      sessionId: 'chat 1',
      name: 'tone',
      value: 'kind',
      timestamp: '2026-01-03T00:00:00Z',
    }
    const batch = [{ id: 'e1', type: 'score-create', timestamp: '2026-01-03T00:00:00Z', body }]
    const ingested = await app.post(`${BASE}/ingestion`, { batch }, { key })
    expect(ingested).toMatchObject({ status: 207, body: { successes: [{ id: 'e1' }], errors: [] } })
    const v3 = await list({ app, key })
    expect(v3.body.data).toMatchObject([
      {
        id: 's3',
        dataType: 'CATEGORICAL',
        value: 'kind',
        subject: { kind: 'session', id: 'chat 1' },
      },
      { id: 's1', dataType: 'NUMERIC', value: 0.5, subject: { kind: 'trace', id: TRACE } },
      {
        id: 's2',
        dataType: 'BOOLEAN',
        value: true,
        subject: { kind: 'observation', traceId: TRACE },
      },
    ])
    const v2 = await app.get(`${BASE}/v2/scores?name=ok,tone`, { key })
    expect(v2.body.meta).toEqual({ page: 1, limit: 50, totalItems: 2, totalPages: 1 })
    expect(v2.body.data).toMatchObject([
      { id: 's3', value: 0, stringValue: 'kind' },
      { id: 's2', value: 1, stringValue: 'True', traceId: TRACE },
    ])
  })

  it('are feedback about the call, with the value that the page shows', async () => {
    const { app, key } = await openLangfuse()
    await app.post(
      `${BASE}/scores`,
      { id: 's1', traceId: 't', observationId: 'o', name: 'a b', value: 2 },
      { key },
    )
    const { body } = await app.post('/feedback/query', { project_id: project })
    expect(body.result).toMatchObject([
      {
        id: 's1',
        feedback_type: 'langfuse.score.a_b',
        weave_ref: `weave:///${project}/call/o`,
        payload: { value: 2 },
      },
    ])
  })

  it('replace the stored one of the same id', async () => {
    const { app, key } = await openLangfuse()
    for (const value of [1, 2, 2]) {
      const { status, body } = await app.post(
        `${BASE}/scores`,
        { id: 's', traceId: 't', name: 'n', value },
        { key },
      )
      expect({ status, body }).toEqual({ status: 200, body: { id: 's' } })
    }
    expect((await list({ app, key })).body.data).toMatchObject([{ id: 's', value: 2 }])
  })

  it('that are wrong are refused one by one, with the field', async () => {
    const { app, key } = await openLangfuse()
    const sent = [
      { traceId: 't', name: 'n', value: 'x', dataType: 'NUMERIC' },
      { name: 'n', value: 1 },
      { traceId: 't', name: 'n', value: 1 },
    ]
    const { status, body } = await app.post(`${BASE}/scores`, sent, { key })
    expect(status).toBe(207)
    expect(body).toMatchObject({ accepted: 1, rejected: 2 })
    expect(body.errors[0].message).toContain('value must be a number')
    expect(body.errors[1].message).toContain('traceId')
    const one = await app.post(`${BASE}/scores`, sent[0], { key })
    expect(one).toMatchObject({
      status: 422,
      body: { message: 'value must be a number', error: { param: 'value' } },
    })
  })

  it('keep to a page when others arrive between two pages', async () => {
    const { app, key } = await openLangfuse()
    const score = (id: string, timestamp: string) => ({
      id,
      traceId: 't',
      name: 'n',
      value: 1,
      timestamp,
    })
    const days = ['03', '02', '01']
    await app.post(
      `${BASE}/scores`,
      days.map((day) => score(`s${day}`, `2026-01-${day}T00:00:00Z`)),
      { key },
    )
    const first = await list({ app, key }, '?limit=2')
    await app.post(`${BASE}/scores`, [score('new', '2026-02-01T00:00:00Z')], { key })
    const { cursor } = first.body.meta
    const second = await list({ app, key }, `?limit=2&cursor=${cursor}`)
    const ids = [first, second].flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))
    expect(ids).toEqual(['s03', 's02', 's01'])
    expect(second.body.meta.cursor).toBeNull()
    expect((await list({ app, key }, '?cursor=x')).status).toBe(422)
  })

  it.each([
    ['traceId=t1', ['a', 'b']],
    ['value=yes', ['c']],
    ['valueMin=0.6', ['b']],
    ['experimentId=run1', ['d']],
    ['fromTimestamp=2026-01-02T01:00:00%2B01:00&toTimestamp=2026-01-04T00:00:00Z', ['b', 'c']],
    ['environment=other', []],
  ])('are filtered by %s', async (query, ids) => {
    const { app, key } = await openLangfuse()
    const sent = [
      { id: 'a', traceId: 't1', value: 0.5, timestamp: '2026-01-01T00:00:00Z' },
      { id: 'b', traceId: 't1', value: 0.7, timestamp: '2026-01-02T00:00:00Z' },
      { id: 'c', traceId: 't2', value: 'yes', timestamp: '2026-01-03T00:00:00Z' },
      { id: 'd', datasetRunId: 'run1', value: 0.1, timestamp: '2026-01-04T00:00:00Z' },
    ].map((score) => ({ name: 'n', ...score }))
    await app.post(`${BASE}/scores`, sent, { key })
    const { body } = await list({ app, key }, `?${query}`)
    expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(ids)
  })

  it('are deleted with an entry in the audit list; other feedback is not', async () => {
    const { app, key } = await openLangfuse()
    await app.post(`${BASE}/scores`, { id: 's', traceId: 't', name: 'n', value: 1 }, { key })
    const note = {
      id: 'note',
      weave_ref: `weave:///${project}/object/x:v0`,
      feedback_type: 'n',
      payload: {},
    }
    await app.post('/feedback/create', { project_id: project, ...note })
    expect((await app.delete(`${BASE}/scores/note`, { key })).status).toBe(404)
    expect((await app.delete(`${BASE}/scores/s`, { key })).status).toBe(202)
    expect((await app.get(`${BASE}/v2/scores/s`, { key })).status).toBe(404)
    const { body } = await app.get('/v1/audit')
    expect(body.data[0]).toMatchObject({ action: 'feedback.delete', before: { ids: ['s'] } })
  })

  it('of a trace are shown with its root, whichever came first', async () => {
    const { app, key } = await openLangfuse()
    await app.post(`${BASE}/scores`, { id: 's', traceId: TRACE, name: 'n', value: 1 }, { key })
    const call = { project_id: project, trace_id: TRACE, op_name: 'o', attributes: {}, inputs: {} }
    for (const [id, parent_id] of [
      ['root', null],
      ['child', 'root'],
    ]) {
      const start = { ...call, id, parent_id, started_at: '2026-01-01T00:00:00Z' }
      await app.post('/call/start', { start })
    }
    const { text } = await app.post('/calls/stream_query', {
      project_id: project,
      include_feedback: true,
    })
    const [child, root] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(root.summary.weave.feedback).toMatchObject([{ id: 's', payload: { value: 1 } }])
    expect(child.summary.weave.feedback).toEqual([])
  })

  it('refuse events of other kinds by their own status', async () => {
    const { app, key } = await openLangfuse()
    const batch = [{ id: 'e', type: 'trace-create', timestamp: '2026-01-03T00:00:00Z', body: {} }]
    const { body } = await app.post(`${BASE}/ingestion`, { batch }, { key })
    expect(body).toMatchObject({ successes: [], errors: [{ id: 'e', status: 400 }] })
    expect(body.errors[0].message).toContain('OpenTelemetry')
  })
})

describe('the project of a request', () => {
  it('is that of the public key, else the only one of the secret key', async () => {
    const { app, key } = await openLangfuse()
    expect((await app.get(`${BASE}/projects`, { key })).body.data).toMatchObject([{ id: project }])
    const headers = { authorization: basic(app.key, 'team/app') }
    const named = await app.get(`${BASE}/projects`, { headers, key: null })
    expect(named.body.data).toMatchObject([{ id: 'team/app', name: 'app' }])
    const none = await app.get(`${BASE}/projects`)
    expect(none).toMatchObject({ status: 400, body: { error: { code: 'otlp_project_missing' } } })
    expect(none.body.message).toContain('public key')
  })

  it('of spans is that of the public key, too', async () => {
    const { app } = await openLangfuse()
    const span = {
      traceId: TRACE,
      spanId: 'b7ad6b7169203331',
      name: 's',
      startTimeUnixNano: '1',
      endTimeUnixNano: '2',
    }
    const sent = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
    const headers = { authorization: basic(app.key, 'team/app') }
    expect((await app.post(`${BASE}/otel/v1/traces`, sent, { headers, key: null })).status).toBe(
      200,
    )
    const { body } = await app.post('/calls/query_stats', { project_id: 'team/app' })
    expect(body.count).toBe(1)
  })

  it('is refused to a key of another one', async () => {
    const { app, key } = await openLangfuse()
    const headers = { authorization: basic(key, 'other/project') }
    const { status, body } = await app.get(`${BASE}/v3/scores`, { headers, key: null })
    expect(status).toBe(403)
    expect(body.error.code).toBe('project_forbidden')
  })
})
