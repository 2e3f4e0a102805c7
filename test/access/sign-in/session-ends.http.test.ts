import { afterEach, describe, expect, it, vi } from 'vitest'
import { buildLocalApp } from './local-app.ts'

const MINUTE_MS = 60_000
const BEGIN_MS = Date.parse('2026-03-01T12:00:00Z')

afterEach(() => {
  vi.useRealTimers()
})

/** Somebody who is signed in, and a clock that is set by the minute. */
async function signIn(variables: Readonly<Record<string, string>>) {
  vi.useFakeTimers({ toFake: ['Date'], now: BEGIN_MS })
  const { invite, openBrowser } = await buildLocalApp({}, {}, variables)
  const { secret } = await invite('ada@acme.example')
  const browser = openBrowser()
  await browser.set(secret)
  const at = (minute: number) => {
    vi.setSystemTime(BEGIN_MS + minute * MINUTE_MS)
    return browser.me()
  }
  const copyAt = async (cookie: string, minute: number) => {
    vi.setSystemTime(BEGIN_MS + minute * MINUTE_MS)
    return (await openBrowser().ask('GET', '/me', undefined, { cookie })).statusCode
  }
  return { at, copyAt, cookie: browser.cookie }
}

describe('a session', () => {
  it('ends so long after its last request, also for a copy of an older cookie', async () => {
    const { at, copyAt, cookie } = await signIn({ WEFT_SESSION_IDLE_MS: String(30 * MINUTE_MS) })
    const first = cookie()
    for (const minute of [29, 58, 87]) expect([minute, await at(minute)]).toEqual([minute, 200])
    expect(await copyAt(first, 88)).toBe(401)
    expect(await at(116)).toBe(200)
    expect(await at(147)).toBe(401)
    expect(cookie()).toBe('')
    expect(await at(0)).toBe(401)
  })

  it('ends so long after its begin, however it is used', async () => {
    const { at, copyAt, cookie } = await signIn({
      WEFT_SESSION_IDLE_MS: String(30 * MINUTE_MS),
      WEFT_SESSION_MS_MAX: String(60 * MINUTE_MS),
    })
    for (const minute of [20, 40, 59]) expect([minute, await at(minute)]).toEqual([minute, 200])
    const last = cookie()
    expect(await at(61)).toBe(401)
    expect(await copyAt(last, 61)).toBe(401)
  })

  it('is renewed in its cookie only once a tenth of the idle time is over', async () => {
    const { at, cookie } = await signIn({ WEFT_SESSION_IDLE_MS: String(30 * MINUTE_MS) })
    const first = cookie()
    await at(2)
    expect(cookie()).toBe(first)
    await at(4)
    expect(cookie()).not.toBe(first)
  })
})
