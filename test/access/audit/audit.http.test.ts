import { describe, expect, it } from 'vitest'
import { ENDED, STARTED } from '../../calls/call-fixtures.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'

const URL = '/v1/audit'
const project_id = 'acme/demo'
const WANTED = { svc_user_id: 'eve', scopes: ['inference'], projects: [project_id] }
const IDS = { query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'x' }] } } }

async function entriesOf({ get }: TestApp, query = '', key?: string) {
  const options = key === undefined ? {} : { key }
  const { status, body } = await get(`${URL}?order=asc&limit=100${query}`, options)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}

describe('GET /v1/audit', () => {
  it('lists who has done what by which key and from where, the newest first', async () => {
    const app = await buildTestApp()
    const me = (await app.get('/me')).body
    const headers = { 'x-forwarded-for': `198.51.100.9, ${'1'.repeat(400)}` }
    const { id, secret } = (await app.post('/v1/keys', WANTED, { headers })).body
    await app.patch(`/v1/keys/${id}`, { name: 'nightly' })
    const { body, text } = await app.get(URL)
    const [edited, created] = body.data
    expect(edited).toMatchObject({
      action: 'key.update',
      subject_id: id,
      svc_user_id: me.svc_user_id,
      key_id: me.key_id,
      address: '127.0.0.1',
      forwarded_for: null,
      projects: [project_id],
      before: { name: null },
      after: { name: 'nightly' },
    })
    expect(created).toMatchObject({ action: 'key.create', before: null, after: WANTED })
    expect(created.forwarded_for).toMatch(/^198\.51\.100\.9, 1+$/)
    expect(created.forwarded_for).toHaveLength(256)
    expect(text).not.toContain(secret)
  })

  it('lists a time range, a user or an action by pages, of which the last says so', async () => {
    const app = await buildTestApp()
    const other = await app.deps.keys.createKey({
      svc_user_id: 'ann',
      svc_username: 'ann',
      scopes: ['admin'],
      projects: ['*'],
    })
    for (let n = 0; n < 5; n++) await app.post('/v1/keys', WANTED, { key: other.secret })
    const { id } = (await app.post('/v1/keys', WANTED)).body
    await app.delete(`/v1/keys/${id}`)
    const own = await entriesOf(app, '&actor=ann')
    expect(own).toHaveLength(5)
    const first = (await app.get(`${URL}?order=asc&actor=ann&limit=3`)).body
    expect(first).toMatchObject({ has_more: true, last_id: own[2].id })
    const rest = (await app.get(`${URL}?order=asc&actor=ann&limit=3&after=${first.last_id}`)).body
    expect([...first.data, ...rest.data]).toEqual(own)
    expect(rest.has_more).toBe(false)
    expect(await entriesOf(app, '&action=key.revoke')).toMatchObject([{ subject_id: id }])
    expect(await entriesOf(app, '&action=key.revoke&actor=ann')).toEqual([])
    expect(await entriesOf(app, '&until=2020-01-01T00:00:00Z')).toEqual([])
    expect(await entriesOf(app, '&from=2254-01-01T00:00:00Z')).toEqual([])
    const all = await entriesOf(app, '&from=2020-01-01T00:00:00Z&until=2254-01-01T00:00:00Z')
    expect(all).toEqual(await entriesOf(app))
  })

  it.each([
    ['action=key.steal', 422, 'action'],
    ['from=yesterday', 422, 'from'],
    ['limit=0', 422, 'limit'],
    ['user=ann', 422, 'user'],
    ['after=unknown', 404, 'after'],
  ])('refuses ?%s', async (query, status, param) => {
    const { get } = await buildTestApp()
    const refused = await get(`${URL}?${query}`)
    expect([refused.status, refused.body.error.param]).toEqual([status, param])
  })

  it('shows an admin of some projects the entries about these alone, also after a cursor', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ scopes: ['admin'], projects: ['acme/*'] })
    await app.post('/v1/keys', WANTED)
    await app.post('/v1/keys', { ...WANTED, projects: ['other/demo'] })
    await app.post('/v1/keys', { ...WANTED, projects: [project_id, 'other/demo'] })
    const shown = await entriesOf(app, '&action=key.create', key)
    const patterns = shown.map(({ projects }: { projects: string[] }) => projects)
    expect(patterns).toEqual([['acme/*'], [project_id]])
    const hidden = (await entriesOf(app)).at(-1).id
    const asked = await app.get(`${URL}?after=${hidden}`, { key })
    expect([asked.status, asked.body.error.code]).toEqual([404, 'audit_entry_not_found'])
    const viewer = await app.createKey({ scopes: ['traces:read', 'traces:write'] })
    for (const url of [URL, `${URL}/export`]) {
      expect((await app.get(url, { key: viewer })).body.error.code).toBe('scope_missing')
    }
  })
})

describe('the audit list', () => {
  it('has an entry for each kind of deletion and export, before it begins', async () => {
    const app = await buildTestApp()
    await app.post('/call/start', { start: { ...STARTED, project_id, id: 'c', trace_id: 'a1' } })
    await app.post('/call/end', { end: { ...ENDED, project_id, id: 'c' } })
    const ticket = (await app.post('/calls/exports', { project_id })).body.path
    await app.get(ticket, { key: null })
    await app.get(`/otel/v1/traces/a1?project_id=${project_id}`)
    await app.post('/calls/delete', { project_id, call_ids: ['c'] })
    await app.post('/obj/delete', { project_id, object_id: 'o', digests: ['d'] })
    await app.delete(`/v2/${project_id}/datasets/s`)
    await app.post('/feedback/purge', { project_id, ...IDS })
    await app.post('/cost/purge', { project_id, ...IDS })
    await app.delete(`/annotation_queues/q?project_id=${project_id}`)
    await app.post('/project/ttl_settings/update', { project_id, retention_days: 30 })
    const named = { name: 'm', base_model: 'tiny', entity: 'acme', project: 'demo' }
    const { id: model_id } = (await app.post('/v1/preview/models', named)).body
    await app.delete(`/v1/preview/models/${model_id}/checkpoints`, { body: { steps: [1] } })
    await app.delete(`/v1/preview/models/${model_id}`)
    const response = await storeResponse(app)
    await app.delete(`/v1/responses/${response.id}`)
    const entries = (await entriesOf(app)).slice(1)
    const common = { address: '127.0.0.1', projects: [project_id] }
    expect(entries).toMatchObject([
      { ...common, action: 'calls.export', subject_id: project_id, after: { project_id } },
      { ...common, action: 'trace.export', subject_id: 'a1', after: { calls: 1 } },
      { ...common, action: 'calls.delete', before: { call_ids: ['c'] }, after: null },
      { ...common, action: 'objects.delete', subject_id: 'o', before: { digests: ['d'] } },
      { ...common, action: 'objects.delete', subject_id: 's', before: { digests: null } },
      { ...common, action: 'feedback.delete', before: { ids: ['x'] } },
      { ...common, action: 'prices.delete', before: { ids: ['x'] } },
      { ...common, action: 'queue.delete', subject_id: 'q' },
      { ...common, action: 'retention.update', before: null, after: { retention_days: 30 } },
      { ...common, action: 'checkpoints.delete', subject_id: model_id, before: { steps: [1] } },
      { ...common, action: 'model.delete', subject_id: model_id, before: { name: 'm' } },
      {
        action: 'response.delete',
        subject_id: response.id,
        before: { key_id: response.key_id },
        projects: [project_id],
      },
    ])
  })

  it('has no entry for what is refused', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ projects: ['other/project'] })
    const before = await entriesOf(app)
    await app.post('/calls/delete', { project_id, call_ids: ['c'] }, { key })
    await app.post('/project/ttl_settings/update', { project_id, retention_days: 30 }, { key })
    await app.post('/v1/keys', WANTED, { key })
    await app.get(`/otel/v1/traces/a1?project_id=${project_id}`, { key })
    expect(await entriesOf(app)).toEqual(before)
  })

  it('keeps a deletion from happening that it cannot record', async () => {
    const { audit, ...app } = await buildFailing()
    await app.post('/call/start', { start: { ...STARTED, project_id, id: 'c', trace_id: 'a1' } })
    audit.fails = true
    const refused = await app.post('/calls/delete', { project_id, call_ids: ['c'] })
    expect(refused.status).toBe(503)
    const read = await app.post('/call/read', { project_id, id: 'c' })
    expect(read.body.call.id).toBe('c')
  })
})

async function storeResponse({ deps, get }: TestApp) {
  const { key_id } = (await get('/me')).body
  const texts = { response_json: '{}', input_json: '[]' }
  const response = {
    ...texts,
    id: `resp_${'a'.repeat(32)}`,
    key_id,
    project_id,
    previous_response_id: null,
  }
  await deps.responses.insertResponse({ ...response, created_at_us: 1 })
  return response
}

/** An app whose audit list stops taking entries once `fails` is set. */
async function buildFailing() {
  const { deps } = await buildTestApp()
  const { ApiError } = await import('../../../src/errors.ts')
  const audit = { fails: false }
  const record: typeof deps.audit.record = async (change, by) => {
    if (audit.fails) throw new ApiError('store_unavailable')
    await deps.audit.record(change, by)
  }
  return { ...(await buildTestApp({}, { audit: { ...deps.audit, record } })), audit }
}

describe('GET /v1/audit/export', () => {
  it('streams all entries as JSON lines, the oldest first, beginning with who exports them', async () => {
    const app = await buildTestApp()
    for (let n = 0; n < 3; n++) await app.post('/v1/keys', WANTED)
    const exported = await app.get(`${URL}/export`)
    expect(exported.headers).toMatchObject({
      'content-type': 'application/jsonl; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.jsonl"',
      'cache-control': 'no-store',
    })
    const lines = exported.text.trimEnd().split('\n')
    const entries = await entriesOf(app)
    expect(lines.map((line) => JSON.parse(line))).toEqual(entries)
    expect(entries.at(-1)).toMatchObject({ action: 'audit.export', subject_id: 'audit', after: {} })
    const some = await app.get(`${URL}/export?action=key.create&actor=u-1`)
    expect(some.text.trimEnd().split('\n')).toHaveLength(3)
    const none = await app.get(`${URL}/export?until=2020-01-01T00:00:00Z`)
    expect([none.status, none.text]).toEqual([200, ''])
  })
})
