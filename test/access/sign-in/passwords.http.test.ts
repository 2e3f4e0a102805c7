import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { buildLocalApp, PASSWORD } from './local-app.ts'
import { ORIGIN } from './signed-in-app.ts'

const ADA = 'ada@acme.example'
const OTHER = 'another long password'

type Answer = { readonly statusCode: number; json(): { error?: { code: string } } }
const codeOf = (response: Answer) => response.json().error?.code ?? response.statusCode

describe('a local account', () => {
  it('exists only where it is switched on', async () => {
    const { post, get } = await buildTestApp()
    const { body } = await post('/v1/people', {
      email: ADA,
      grants: [{ role: 'viewer', projects: ['*'] }],
    })
    const { status, body: refused } = await post(`/v1/people/${body.id}/password_link`, {})
    expect([status, refused.error.code]).toEqual([409, 'passwords_off'])
    expect((await post('/auth/password', { email: ADA, password: PASSWORD })).status).toBe(404)
    expect((await get('/auth/session')).body).toMatchObject({ passwords: false })
  })

  it('begins with a link that sets the password once, and signs in', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { id, secret } = await invite('Ada@acme.example')
    const browser = openBrowser()
    expect(codeOf(await browser.signIn(ADA))).toBe('password_wrong')
    expect((await browser.set(secret)).json()).toEqual({
      sign_in: false,
      passwords: true,
      person: { id, name: ADA, has_password: true },
    })
    expect(await browser.me()).toBe(200)
    expect(codeOf(await openBrowser().set(secret, OTHER))).toBe('password_link_not_found')
    const second = openBrowser()
    expect(codeOf(await second.signIn('ADA@acme.example'))).toBe(200)
    expect((await second.ask('GET', '/auth/session')).json().person).toEqual({
      id,
      name: ADA,
      has_password: true,
    })
    expect((await second.ask('GET', '/me')).json()).toMatchObject({ svc_user_id: id })
  })

  it('refuses short passwords, other fields, and requests of no page of this server', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    const { ask, set, me } = openBrowser()
    const short = await set(secret, 'short')
    expect([short.statusCode, short.json().error.param]).toEqual([422, 'password'])
    expect(short.body).not.toContain('short"')
    const body = { email: ADA, password: PASSWORD }
    expect((await ask('POST', '/auth/password', { ...body, x: 1 })).statusCode).toBe(422)
    await set(secret)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      {},
      { origin: 'https://evil.example' },
    ]) {
      const asked = await openBrowser().ask('POST', '/auth/password', body, headers)
      expect(codeOf(asked)).toBe('cross_origin_request')
    }
    const origin = { origin: ORIGIN }
    expect((await ask('POST', '/auth/password', body, origin)).statusCode).toBe(200)
    expect(await me()).toBe(200)
  })

  it('ends its sessions, its password and its last link with a reset', async () => {
    const { invite, link, openBrowser, get } = await buildLocalApp()
    const { id, secret } = await invite(ADA)
    const browser = openBrowser()
    await browser.set(secret)
    const [first, second] = [await link(id), await link(id)]
    await expect.poll(browser.me).toBe(401)
    expect(codeOf(await openBrowser().signIn(ADA))).toBe('password_wrong')
    expect(codeOf(await openBrowser().set(first))).toBe('password_link_not_found')
    const { body } = await get('/v1/people')
    expect(body.data).toMatchObject([
      { id, password_set_at: null, link_expires_at: expect.any(String) },
    ])
    expect(codeOf(await openBrowser().set(second, OTHER))).toBe(200)
    expect(codeOf(await openBrowser().signIn(ADA, OTHER))).toBe(200)
  })

  it('changes its password by the one so far, which ends the other sessions', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    const [own, other] = [openBrowser(), openBrowser()]
    await own.set(secret)
    await other.signIn(ADA)
    expect(codeOf(await own.change(OTHER, OTHER))).toBe('password_wrong')
    expect(codeOf(await openBrowser().change(PASSWORD, OTHER))).toBe('missing_api_key')
    expect(codeOf(await own.change(PASSWORD, OTHER))).toBe(200)
    expect(await own.me()).toBe(200)
    await expect.poll(other.me).toBe(401)
    expect(codeOf(await openBrowser().signIn(ADA))).toBe('password_wrong')
    expect(codeOf(await openBrowser().signIn(ADA, OTHER))).toBe(200)
  })

  it('is refused in the words of a wrong password once it is removed', async () => {
    const { invite, openBrowser, link, delete: remove, patch } = await buildLocalApp()
    const { id, secret } = await invite(ADA)
    const browser = openBrowser()
    await browser.set(secret)
    await remove(`/v1/people/${id}`)
    await expect.poll(browser.me).toBe(401)
    expect(codeOf(await openBrowser().signIn(ADA))).toBe('password_wrong')
    await patch(`/v1/people/${id}`, { disabled: false, grants: [] })
    expect(codeOf(await openBrowser().signIn(ADA))).toBe('scope_missing')
    await remove(`/v1/people/${id}`)
    expect(codeOf(await openBrowser().set(await link(id)))).toBe('password_link_not_found')
  })

  it('signs out, also copies of its cookie', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    const browser = openBrowser()
    await browser.set(secret)
    const cookie = browser.cookie()
    const out = await browser.ask('POST', '/auth/sign-out', {})
    expect(out.json()).toEqual({ redirect_url: null })
    const copy = () => openBrowser().ask('GET', '/me', undefined, { cookie })
    expect((await copy()).statusCode).toBe(401)
  })

  it('needs an admin of all projects in which it has a role', async () => {
    const { invite, createKey, post } = await buildLocalApp()
    const { id } = await invite(ADA, [{ role: 'viewer', projects: ['acme/*'] }])
    const key = await createKey({ scopes: ['admin'], projects: ['acme/demo'] })
    const { body } = await post(`/v1/people/${id}/password_link`, {}, { key })
    expect(body.error.code).toBe('person_not_found')
    const reader = await createKey({ scopes: ['traces:read'] })
    const refused = await post(`/v1/people/${id}/password_link`, {}, { key: reader })
    expect(refused.body.error.code).toBe('scope_missing')
  })

  it('is lost with the first sign-in at a provider, after which no link is made', async () => {
    const { invite, openBrowser, deps, post } = await buildLocalApp()
    const { id, secret } = await invite(ADA)
    const browser = openBrowser()
    await browser.set(secret)
    const provided = { issuer: 'https://provider.example', subject: 's', email: ADA, name: null }
    const person = await deps.people.signIn({ ...provided, id: 'x', claim_grants: [], now_us: 9 })
    expect(person).toMatchObject({ id, password_set_at_us: null })
    expect(codeOf(await openBrowser().signIn(ADA))).toBe('password_wrong')
    const { body } = await post(`/v1/people/${id}/password_link`, {})
    expect(body.error.code).toBe('person_conflict')
  })

  it('is audited without a secret', async () => {
    const { invite, openBrowser, get } = await buildLocalApp()
    const { id, secret } = await invite(ADA)
    const browser = openBrowser('203.0.113.7')
    await browser.set(secret)
    await browser.signIn(ADA)
    await browser.signIn(ADA, 'a wrong password')
    await browser.change(PASSWORD, OTHER)
    const { text, body } = await get('/v1/audit?order=asc')
    const entries: Record<string, unknown>[] = body.data
    expect(entries.slice(-5).map(({ action, svc_user_id }) => [action, svc_user_id])).toEqual([
      ['person.create', 'u-1'],
      ['person.create_link', 'u-1'],
      ['person.set_password', id],
      ['person.sign_in', id],
      ['person.set_password', id],
    ])
    expect(entries.at(-1)).toMatchObject({ key_id: `person-${id}`, address: '203.0.113.7' })
    for (const word of [secret, PASSWORD, OTHER, 'argon2']) expect(text).not.toContain(word)
    expect((await get('/v1/people')).text).not.toMatch(/argon2|hash/)
  })
})

describe('failed sign-ins', () => {
  it('are limited for an account that exists as for one that does not', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    await openBrowser().set(secret)
    for (const email of [ADA, 'nobody@acme.example']) {
      const codes: (string | number)[] = []
      for (let n = 0; n < 11; n++) {
        codes.push(codeOf(await openBrowser(`203.0.113.${n}`).signIn(email, 'wrong password')))
      }
      expect(codes).toEqual([...Array(10).fill('password_wrong'), 'rate_limit_exceeded'])
    }
    const late = await openBrowser('203.0.113.99').signIn(ADA)
    expect(codeOf(late)).toBe('rate_limit_exceeded')
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('are limited for an address, whatever accounts it tries', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    await openBrowser('198.51.100.1').set(secret)
    const tries = Array.from({ length: 51 }, (_, n) =>
      openBrowser('203.0.113.5').signIn(`n${n}@acme.example`, 'wrong password'),
    )
    const codes = (await Promise.all(tries)).map(codeOf)
    expect(codes.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(1)
    expect(codeOf(await openBrowser('203.0.113.5').signIn(ADA))).toBe('rate_limit_exceeded')
    expect(codeOf(await openBrowser('198.51.100.1').signIn(ADA))).toBe(200)
  })

  it('take the work of a hash also for a person who does not exist', async () => {
    const { invite, openBrowser, deps } = await buildLocalApp()
    const { secret } = await invite(ADA)
    await openBrowser().set(secret)
    /** Fastest of some: what other work takes is left out. */
    async function fastest(email: string): Promise<number> {
      let ms = Number.POSITIVE_INFINITY
      for (let n = 0; n < 5; n++) {
        const begun = performance.now()
        await openBrowser(`203.0.113.${n}`).signIn(email, 'wrong password')
        ms = Math.min(ms, performance.now() - begun)
      }
      return ms
    }
    const [known, unknown] = [await fastest(ADA), await fastest('nobody@acme.example')]
    // Without the hash it would be a hundredth.
    expect(unknown).toBeGreaterThan(known / 4)
    expect(await deps.passwords.findPasswordByEmail('nobody@acme.example')).toBeNull()
  })
})

describe('a password', () => {
  it('is stored as argon2id, and of its link only the hash', async () => {
    const { invite, openBrowser, deps } = await buildLocalApp()
    const { id, secret } = await invite(ADA)
    await openBrowser().set(secret)
    const stored = await deps.passwords.findPassword(id)
    expect(stored?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  it('is the same text however its letters are composed', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    await openBrowser().set(secret, 'schöne grüße an alle')
    const decomposed = 'schöne grüße an alle'.normalize('NFD')
    expect(codeOf(await openBrowser().signIn(ADA, decomposed))).toBe(200)
  })

  it('is set by one of two requests with the same link', async () => {
    const { invite, openBrowser } = await buildLocalApp()
    const { secret } = await invite(ADA)
    const set = await Promise.all([openBrowser().set(secret), openBrowser().set(secret, OTHER)])
    expect(set.map(codeOf).toSorted()).toEqual([200, 'password_link_not_found'])
  })
})
