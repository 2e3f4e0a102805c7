import { describe, expect, it } from 'vitest'
import { buildLocalApp } from '../../access/sign-in/local-app.ts'
import {
  hasClickHouse,
  makeDatabase as makeCallsDatabase,
} from '../clickhouse/clickhouse-server.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const SECRET = 'a secret of all processes of this server'

/** Two processes on one store. */
async function openTwo(secrets: readonly [string, string] = [SECRET, SECRET]) {
  const clickhouse = { url: await makeCallsDatabase(), cluster: null }
  const settings = { store: 'clickhouse', clickhouse, metaUrl: await makeDatabase() } as const
  const open = (secret: string) => buildLocalApp(settings, {}, { WEFT_SESSION_SECRET: secret })
  return [await open(secrets[0]), await open(secrets[1])] as const
}

describe.skipIf(!hasClickHouse || !hasPostgres)('two processes that share people', () => {
  it('accept the sessions of each other, and soon refuse a person whom one of them removes', async () => {
    const [one, other] = await openTwo()
    const { id, secret } = await one.invite('ada@acme.example')
    const browser = one.openBrowser()
    await browser.set(secret)
    const there = async (cookie: string) =>
      (await other.openBrowser().ask('GET', '/me', undefined, { cookie })).statusCode
    expect(await there(browser.cookie())).toBe(200)
    const elsewhere = other.openBrowser()
    expect((await elsewhere.signIn('ada@acme.example')).statusCode).toBe(200)
    const here = async () =>
      (await one.openBrowser().ask('GET', '/me', undefined, { cookie: elsewhere.cookie() }))
        .statusCode
    expect(await here()).toBe(200)
    await one.delete(`/v1/people/${id}`)
    await expect.poll(() => there(browser.cookie()), { timeout: 5_000 }).toBe(401)
    await expect.poll(here, { timeout: 5_000 }).toBe(401)
    expect((await elsewhere.signIn('ada@acme.example')).statusCode).toBe(403)
  })

  it('end the sessions of each other by a sign-out, and by a reset of the password', async () => {
    const [one, other] = await openTwo()
    const { id, secret } = await one.invite('ada@acme.example')
    const [browser, elsewhere] = [one.openBrowser(), other.openBrowser()]
    await browser.set(secret)
    await elsewhere.signIn('ada@acme.example')
    await browser.ask('POST', '/auth/sign-out', {})
    await expect.poll(elsewhere.me, { timeout: 5_000 }).toBe(401)
    await elsewhere.signIn('ada@acme.example')
    expect(await elsewhere.me()).toBe(200)
    await one.link(id)
    await expect.poll(elsewhere.me, { timeout: 5_000 }).toBe(401)
  })

  it('refuse the sessions of each other when their secrets differ', async () => {
    const [one, other] = await openTwo([SECRET, 'another secret that has enough characters'])
    const { secret } = await one.invite('ada@acme.example')
    const browser = one.openBrowser()
    await browser.set(secret)
    const cookie = browser.cookie()
    const there = await other.openBrowser().ask('GET', '/me', undefined, { cookie })
    expect(there.statusCode).toBe(401)
  })
})
