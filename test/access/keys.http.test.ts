import { describe, expect, it } from 'vitest'
import { KEYS_PER_PART } from '../../src/store/api/access/keys.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const URL = '/v1/keys'
const WANTED = { svc_user_id: 'ada', scopes: ['traces:read'], projects: ['acme/demo'] }

async function codeOf(answer: ReturnType<TestApp['get']>): Promise<[number, string | undefined]> {
  const { status, body } = await answer
  return [status, body?.error?.code]
}

describe('POST /v1/keys', () => {
  it('makes a key that works, tells its secret once and keeps it nowhere', async () => {
    const { get, post } = await buildTestApp()
    const made = await post(URL, WANTED)
    expect([made.status, made.headers['cache-control']]).toEqual([200, 'no-store'])
    const { secret, ...row } = made.body
    expect(row).toMatchObject({ ...WANTED, svc_username: 'ada', revoked_at: null })
    const me = await get('/me', { key: secret })
    expect(me.body).toMatchObject({ key_id: row.id, scopes: ['traces:read'] })
    const listed = await get(URL)
    expect(listed.body.data).toContainEqual({ ...row, last_used_on: expect.any(String) })
    expect(listed.text).not.toContain(secret)
  })

  it.each([
    [{ ...WANTED, scopes: [] }, 'scopes'],
    [{ ...WANTED, scopes: ['all'] }, 'scopes[0]'],
    [{ ...WANTED, projects: [] }, 'projects'],
    [{ ...WANTED, projects: ['acme'] }, 'projects[0]'],
    [{ ...WANTED, projects: ['*/demo'] }, 'projects[0]'],
    // What no project can be named, so that the key would never be accepted for it.
    [{ ...WANTED, projects: ['acme/*', ' other/demo'] }, 'projects[1]'],
    [{ ...WANTED, projects: ['acme/a?b'] }, 'projects[0]'],
    [{ ...WANTED, projects: ['acme/d*'] }, 'projects[0]'],
    [{ ...WANTED, svc_user_id: '' }, 'svc_user_id'],
    [{ ...WANTED, secret: 'wk_mine' }, 'secret'],
  ])('refuses %j', async (body, param) => {
    const { post } = await buildTestApp()
    const refused = await post(URL, body)
    expect([refused.status, refused.body.error.param]).toEqual([422, param])
  })

  it('makes keys of the projects of the caller alone', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ scopes: ['admin'], projects: ['acme/*', 'other/one'] })
    for (const [projects, status] of [
      [['acme/demo'], 200],
      [['acme/*', 'other/one'], 200],
      [['other/two'], 403],
      [['other/*'], 403],
      [['acme/demo', '*'], 403],
    ] as const) {
      const { status: got } = await post(URL, { ...WANTED, projects }, { key })
      expect([projects, got]).toEqual([projects, status])
    }
  })
})

describe('GET and DELETE /v1/keys', () => {
  it('list the keys of the projects of the caller among many others', async () => {
    const { get, createKey, deps } = await buildTestApp()
    const key = { svc_user_id: 'u', svc_username: 'U', scopes: [] }
    const make = (_: unknown, at: number) =>
      deps.keys.createKey({ ...key, projects: [at % 400 === 399 ? 'acme/demo' : 'other/demo'] })
    const made = await Promise.all(Array.from({ length: 2 * KEYS_PER_PART }, make))
    const caller = await createKey({ scopes: ['admin'], projects: ['acme/*'] })
    const me = await get('/me', { key: caller })
    const own = [...made.filter((_, at) => at % 400 === 399), { id: me.body.key_id }]
    const [mine, all] = [await get(URL, { key: caller }), await get(URL)]
    expect(mine.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(mine.body.object).toBe('list')
    const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted()
    expect(idsOf(mine.body.data)).toEqual(idsOf(own))
    expect(all.body.data).toHaveLength(made.length + 2)
    expect(idsOf(all.body.data)).toEqual(expect.arrayContaining(idsOf(made)))
  })

  it('refuse what would choose a part of the list, which has no pages', async () => {
    const { get } = await buildTestApp()
    const { status, body } = await get(`${URL}?limit=1`)
    expect([status, body.error?.code, body.error?.param]).toEqual([
      422,
      'validation_failed',
      'limit',
    ])
  })

  it('revoke a key once, which is refused from then on', async () => {
    const { get, post, delete: remove } = await buildTestApp()
    const { id, secret } = (await post(URL, WANTED)).body
    const revoked = await remove(`${URL}/${id}`)
    expect([revoked.status, revoked.body.revoked_at]).toEqual([200, expect.stringMatching(/Z$/)])
    expect((await get('/me', { key: secret })).status).toBe(401)
    expect(await codeOf(remove(`${URL}/${id}`))).toEqual([404, 'key_not_found'])
    const { data } = (await get(URL)).body
    expect(data.find((key: { id: string }) => key.id === id)).toEqual(revoked.body)
  })

  it('show and revoke no key of other projects', async () => {
    const { get, post, createKey, delete: remove } = await buildTestApp()
    const { id } = (await post(URL, { ...WANTED, projects: ['other/demo'] })).body
    const key = await createKey({ scopes: ['admin'], projects: ['acme/*'] })
    const { body } = await get(URL, { key })
    expect(body.data.map(({ projects }: { projects: string[] }) => projects)).toEqual([['acme/*']])
    expect(await codeOf(remove(`${URL}/${id}`, { key }))).toEqual([404, 'key_not_found'])
    expect(await codeOf(remove(`${URL}/nothing`))).toEqual([404, 'key_not_found'])
  })

  it('need the scope admin', async () => {
    const { get, post, createKey, delete: remove } = await buildTestApp()
    const key = await createKey({
      scopes: ['traces:read', 'traces:write', 'inference', 'training', 'worker'],
    })
    for (const answer of [
      get(URL, { key }),
      post(URL, WANTED, { key }),
      remove(`${URL}/any`, { key }),
      get('/v1/backends', { key }),
    ]) {
      expect(await codeOf(answer)).toEqual([403, 'scope_missing'])
    }
    expect((await get(URL, { key: null })).status).toBe(401)
  })
})

describe('PATCH /v1/keys and rotate', () => {
  it('change what is sent and keep the secret, and null removes', async () => {
    const { get, post, patch } = await buildTestApp()
    const settings = { name: 'nightly', models: ['a', 'b/*'], requests_per_minute: 3 }
    const { secret, ...made } = (await post(URL, { ...WANTED, ...settings })).body
    expect(made).toMatchObject({ ...settings, expires_at: null, last_used_on: null })
    const changed = await patch(`${URL}/${made.id}`, { models: null, tokens_per_minute: 9 })
    expect(changed.body).toEqual({ ...made, models: null, tokens_per_minute: 9 })
    expect((await get('/me', { key: secret })).body).toMatchObject({ key_id: made.id })
    const ended = await patch(`${URL}/${made.id}`, { expires_at: '2020-01-01T00:00:00Z' })
    expect(ended.body.expires_at).toBe('2020-01-01T00:00:00.000000Z')
    expect((await get('/me', { key: secret })).status).toBe(401)
  })

  it.each([
    [{ svc_user_id: 'other' }, 'svc_user_id'],
    [{ requests_per_minute: -1 }, 'requests_per_minute'],
    [{ models: [] }, 'models'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
  ])('refuse %j', async (body, param) => {
    const { post, patch } = await buildTestApp()
    const { id } = (await post(URL, WANTED)).body
    const refused = await patch(`${URL}/${id}`, body)
    expect([refused.status, refused.body.error.param]).toEqual([422, param])
  })

  it('accept both secrets during the overlap', async () => {
    const { get, post } = await buildTestApp()
    const made = (await post(URL, WANTED)).body
    const rotated = await post(`${URL}/${made.id}/rotate`, { overlap_seconds: 60 })
    expect(rotated.headers['cache-control']).toBe('no-store')
    expect(rotated.body).toMatchObject({
      id: made.id,
      previous_secret_expires_at: expect.stringMatching(/Z$/),
    })
    for (const key of [made.secret, rotated.body.secret]) {
      expect((await get('/me', { key })).body).toMatchObject({ key_id: made.id })
    }
    await post(`${URL}/${made.id}/rotate`, { overlap_seconds: 0 })
    for (const key of [made.secret, rotated.body.secret]) {
      expect((await get('/me', { key })).status).toBe(401)
    }
  })

  it('reach no key of other projects, and give no key projects that the caller lacks', async () => {
    const { post, patch, createKey } = await buildTestApp()
    const other = (await post(URL, { ...WANTED, projects: ['other/demo'] })).body
    const own = (await post(URL, WANTED)).body
    const key = await createKey({ scopes: ['admin'], projects: ['acme/*'] })
    const edit = patch(`${URL}/${other.id}`, { name: 'x' }, { key })
    expect(await codeOf(edit)).toEqual([404, 'key_not_found'])
    const rotate = post(`${URL}/${other.id}/rotate`, {}, { key })
    expect(await codeOf(rotate)).toEqual([404, 'key_not_found'])
    const widen = patch(`${URL}/${own.id}`, { projects: ['*'] }, { key })
    expect(await codeOf(widen)).toEqual([403, 'project_forbidden'])
  })
})
