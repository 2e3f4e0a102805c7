/** An app whose people sign in with passwords, and browsers without a screen. */
import { type Config, readConfig } from '../../../src/config.ts'
import type { Deps } from '../../../src/deps.ts'
import type { RoleGrant } from '../../../src/schemas/access/person.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { ORIGIN, VIEWER } from './signed-in-app.ts'

const SAME = { 'sec-fetch-site': 'same-origin' }

export const PASSWORD = 'correct horse battery'

export async function buildLocalApp(
  overrides: Partial<Config> = {},
  replaced: Partial<Deps> = {},
  variables: Readonly<Record<string, string>> = {},
) {
  const { signIn } = readConfig({
    WEFT_PUBLIC_URL: ORIGIN,
    WEFT_LOCAL_ACCOUNTS: 'on',
    ...variables,
  })
  const server = await buildTestApp({ signIn, ...overrides }, replaced)
  const { app, post } = server

  /** Invites somebody. @returns the id, and the secret of the link */
  async function invite(email: string, grants: readonly RoleGrant[] = [VIEWER]) {
    const { body } = await post('/v1/people', { email, grants })
    return { id: String(body.id), secret: await link(body.id) }
  }

  async function link(id: string): Promise<string> {
    const { body } = await post(`/v1/people/${id}/password_link`, {})
    return new URL(body.url).hash.slice('#password='.length)
  }

  function openBrowser(address = '203.0.113.1') {
    let cookie = ''
    async function ask(method: 'GET' | 'POST', url: string, body?: object, headers: object = SAME) {
      const response = await app.inject({
        method,
        url,
        remoteAddress: address,
        headers: { cookie, ...headers },
        ...(body === undefined ? {} : { payload: body }),
      })
      for (const { name, value } of response.cookies) {
        cookie = value === '' ? '' : `${name}=${encodeURIComponent(value)}`
      }
      return response
    }
    return {
      ask,
      cookie: () => cookie,
      signIn: (email: string, password = PASSWORD) =>
        ask('POST', '/auth/password', { email, password }),
      set: (secret: string, password = PASSWORD) =>
        ask('POST', '/auth/password/set', { secret, password }),
      change: (password: string, new_password: string) =>
        ask('POST', '/auth/password/change', { password, new_password }),
      me: async () => (await ask('GET', '/me')).statusCode,
    }
  }

  return { ...server, invite, link, openBrowser }
}
