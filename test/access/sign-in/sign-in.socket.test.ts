import { describe, expect, it } from 'vitest'
import { buildSignedInApp, ORIGIN, VIEWER } from './signed-in-app.ts'

const EMAIL = { email: 'Ada@acme.example', email_verified: true }

describe('signing in at an identity provider', () => {
  it('admits a person with the roles of the mapping, on routes of Basic and of Bearer', async () => {
    const rules = [
      { claim: 'groups', value: 'ml', role: 'admin', projects: ['acme/*'] },
      { claim: 'groups', value: 'other', role: 'admin', projects: ['*'] },
    ]
    const { openBrowser, provider } = await buildSignedInApp({
      WEFT_OIDC_GRANTS: JSON.stringify(rules),
    })
    provider.account = { sub: 'ada', name: 'Ada', groups: ['ml', 'x'], ...EMAIL }
    const { signIn, ask } = openBrowser()
    expect(await signIn('/auth/sign-in?return_to=%2Facme%2Fdemo%2Fweave%3Fx%3D1')).toBe(
      '/acme/demo/weave?x=1',
    )
    const me = (await ask('GET', '/me')).json()
    expect(me).toMatchObject({
      svc_username: 'Ada',
      scopes: ['admin'],
      project_patterns: ['acme/*'],
    })
    const people = (await ask('GET', '/v1/people')).json().data
    expect(people).toMatchObject([
      { id: me.svc_user_id, subject: 'ada', email: 'ada@acme.example', claim_grants: [{}] },
    ])
    expect((await ask('GET', '/auth/session')).json()).toEqual({
      sign_in: true,
      passwords: false,
      person: { id: me.svc_user_id, name: 'Ada', has_password: false },
    })
  })

  it('names the person in the feedback that the person gives', async () => {
    const { openBrowser, provider } = await buildSignedInApp({
      WEFT_OIDC_GRANTS: JSON.stringify([{ role: 'rater', projects: ['acme/demo'] }]),
    })
    provider.account = { sub: 'ada', name: 'Ada' }
    const { signIn, ask } = openBrowser()
    await signIn()
    const project_id = 'acme/demo'
    const feedback = {
      project_id,
      weave_ref: 'weave:///acme/demo/object/x:v0',
      feedback_type: 'wandb.note.1',
      payload: { note: 'fine' },
    }
    const created = await ask('POST', '/feedback/create', { body: feedback })
    expect(created.json()).toMatchObject({ id: expect.any(String) })
    const { result } = (await ask('POST', '/feedback/query', { body: { project_id } })).json()
    expect(result).toMatchObject([{ svc_user_id: (await ask('GET', '/me')).json().svc_user_id }])
  })

  it('refuses somebody unknown without a role, and admits an invitation by verified e-mail alone', async () => {
    const { openBrowser, provider, post } = await buildSignedInApp({ WEFT_OIDC_GRANTS: '[]' })
    provider.account = { sub: 'ada', ...EMAIL }
    const { signIn, ask } = openBrowser()
    expect(await signIn()).toBe('/?sign_in=person_unknown')
    const invitation = { email: 'ada@ACME.example', grants: [VIEWER] }
    expect((await post('/v1/people', invitation)).status).toBe(200)
    expect((await post('/v1/people', invitation)).body.error.code).toBe('person_conflict')
    provider.account = { sub: 'eve', ...EMAIL, email_verified: false }
    expect(await openBrowser().signIn()).toBe('/?sign_in=person_unknown')
    provider.account = { sub: 'ada', ...EMAIL }
    expect(await signIn()).toBe('/')
    expect((await ask('GET', '/me')).json()).toMatchObject({ scopes: ['traces:read'] })
    provider.account = { sub: 'mallory', ...EMAIL }
    expect(await openBrowser().signIn()).toBe('/?sign_in=person_unknown')
  })

  it.each([
    [-30, '/'],
    [30, '/'],
    [-180, '/?sign_in=sign_in_failed'],
  ])(
    'tolerates a minute between the clocks: that of the provider is %i s ahead',
    async (aheadS, end) => {
      const { openBrowser, provider } = await buildSignedInApp()
      provider.aheadS = aheadS
      expect(await openBrowser().signIn()).toBe(end)
    },
  )

  it('follows keys that the provider rotates between two sign-ins', async () => {
    const { openBrowser, provider } = await buildSignedInApp()
    expect(await openBrowser().signIn()).toBe('/')
    provider.rotate()
    expect(await openBrowser().signIn()).toBe('/')
  })

  it('refuses a token with another nonce', async () => {
    const { openBrowser } = await buildSignedInApp()
    const { begin, atProvider, finish, cookies } = openBrowser()
    const url = new URL(await begin())
    url.searchParams.set('nonce', 'another')
    expect(await finish(await atProvider(url.href))).toBe('/?sign_in=sign_in_failed')
    expect([...cookies]).toEqual([])
  })

  it('refuses the callback of another browser, with a sign-in of its own or none, and a second one', async () => {
    const { openBrowser } = await buildSignedInApp()
    const { begin, atProvider, finish } = openBrowser()
    const callback = await atProvider(await begin())
    expect(await openBrowser().finish(callback)).toBe('/?sign_in=sign_in_expired')
    const victim = openBrowser()
    await victim.begin()
    expect(await victim.finish(callback)).toBe('/?sign_in=sign_in_failed')
    expect((await victim.ask('GET', '/me')).statusCode).toBe(401)
    expect(await finish(callback)).toBe('/')
    expect(await finish(callback)).toBe('/?sign_in=sign_in_expired')
  })

  it('says that the provider is down, while keys and sessions go on', async () => {
    const { openBrowser, provider, get } = await buildSignedInApp()
    const { signIn, ask } = openBrowser()
    await signIn()
    const late = openBrowser()
    const callback = await late.atProvider(await late.begin())
    await provider.close()
    expect(await late.finish(callback)).toBe('/?sign_in=sign_in_failed')
    expect((await get('/me')).status).toBe(200)
    expect((await ask('GET', '/me')).statusCode).toBe(200)
    const { openBrowser: openOther, provider: other } = await buildSignedInApp()
    await other.close()
    expect(await openOther().begin()).toBe('/?sign_in=provider_unavailable')
  })

  it('never redirects to another server', async () => {
    const { openBrowser } = await buildSignedInApp()
    for (const address of ['https://evil.example/', '//evil.example', '/\\evil.example', 'x:y']) {
      const path = `/auth/sign-in?return_to=${encodeURIComponent(address)}`
      expect(await openBrowser().signIn(path)).toBe('/')
    }
  })
})

describe('the session of a person', () => {
  it('changes nothing without the proof that a page of this server asks', async () => {
    const { openBrowser } = await buildSignedInApp()
    const { signIn, ask } = openBrowser()
    await signIn()
    const body = { project_id: 'acme/demo' }
    const outcome = async (headers: Record<string, string>) =>
      (await ask('POST', '/feedback/query', { body, headers })).statusCode
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect(await outcome({ 'sec-fetch-site': site })).toBe(403)
    }
    expect(await outcome({})).toBe(403)
    expect(await outcome({ origin: 'https://evil.example' })).toBe(403)
    expect(await outcome({ origin: ORIGIN })).toBe(200)
    expect(await outcome({ 'sec-fetch-site': 'same-origin' })).toBe(200)
  })

  it('yields to a key, also to a wrong one', async () => {
    const { openBrowser, key } = await buildSignedInApp()
    const { signIn, ask } = openBrowser()
    await signIn()
    const basic = (secret: string) => ({ authorization: `Basic ${btoa(`x:${secret}`)}` })
    expect((await ask('GET', '/me', { headers: basic(key) })).json().svc_username).toBe('User One')
    expect((await ask('GET', '/me', { headers: basic('wrong') })).statusCode).toBe(401)
  })

  it('ends with sign-out, here and at the provider, also for copies of the cookie', async () => {
    const { openBrowser, provider } = await buildSignedInApp()
    const { signIn, ask, cookies } = openBrowser()
    await signIn()
    const copy = openBrowser()
    for (const [name, value] of cookies) copy.cookies.set(name, value)
    expect((await copy.ask('GET', '/me')).statusCode).toBe(200)
    const { redirect_url } = (await ask('POST', '/auth/sign-out', { body: {} })).json()
    const url = new URL(redirect_url)
    expect(url.origin).toBe(provider.issuer)
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/)
    expect([...cookies]).toEqual([])
    expect((await copy.ask('GET', '/me')).statusCode).toBe(401)
    expect(await signIn()).toBe('/')
    expect((await ask('GET', '/me')).statusCode).toBe(200)
  })

  it('ends with the removal of the person, whose sign-in is then refused', async () => {
    const { openBrowser, delete: remove, patch } = await buildSignedInApp()
    const { signIn, ask } = openBrowser()
    await signIn()
    const { svc_user_id: id } = (await ask('GET', '/me')).json()
    await remove(`/v1/people/${id}`)
    const refused = await ask('GET', '/me')
    expect(refused.statusCode).toBe(401)
    expect(refused.headers['www-authenticate']).toBeUndefined()
    expect(await signIn()).toBe('/?sign_in=person_removed')
    await patch(`/v1/people/${id}`, { disabled: false })
    expect(await signIn()).toBe('/')
  })

  it('downloads an export that it asked for, unless the person was removed meanwhile', async () => {
    const { openBrowser, delete: remove, get } = await buildSignedInApp()
    const { signIn, ask } = openBrowser()
    await signIn()
    const body = { project_id: 'acme/demo', format: 'jsonl' }
    const prepare = async () => (await ask('POST', '/calls/exports', { body })).json().path
    expect((await get(await prepare(), { key: null })).status).toBe(200)
    const late = await prepare()
    await remove(`/v1/people/${(await ask('GET', '/me')).json().svc_user_id}`)
    expect((await get(late, { key: null })).body.error.code).toBe('export_not_found')
  })

  it('is HttpOnly and SameSite, and Secure at an https address', async () => {
    const { openBrowser } = await buildSignedInApp()
    const { begin, atProvider, ask } = openBrowser()
    const callback = await atProvider(await begin())
    const { headers } = await ask('GET', callback.slice(ORIGIN.length))
    expect(String(headers['set-cookie'])).toMatch(
      /weft_session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict/,
    )
    const { openBrowser: openSecure } = await buildSignedInApp({
      WEFT_PUBLIC_URL: 'https://weft.example',
    })
    const begun = await openSecure().ask('GET', '/auth/sign-in')
    expect(String(begun.headers['set-cookie'])).toMatch(
      /^__Host-weft_sign_in=.*; HttpOnly; Secure; SameSite=Lax/,
    )
  })
})
