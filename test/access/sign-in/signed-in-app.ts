/** An app whose people sign in at an identity provider of the test, and browsers without a screen. */

import { readConfig } from '../../../src/config.ts'
import type { RoleGrant } from '../../../src/schemas/access/person.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { openIdentityProvider, walkProvider } from '../../support/identity-provider.ts'

export const ORIGIN = 'http://localhost:8080'
export const VIEWER: RoleGrant = { role: 'viewer', projects: ['acme/demo'] }

export async function buildSignedInApp(variables: Readonly<Record<string, string>> = {}) {
  const provider = await openIdentityProvider(ORIGIN)
  const { signIn } = readConfig({
    WEFT_PUBLIC_URL: ORIGIN,
    WEFT_OIDC_ISSUER: provider.issuer,
    WEFT_OIDC_CLIENT_ID: 'weft',
    WEFT_OIDC_CLIENT_SECRET: 'secret of the client',
    WEFT_OIDC_GRANTS: JSON.stringify([VIEWER]),
    ...variables,
  })
  const server = await buildTestApp({ signIn })

  function openBrowser() {
    const cookies = new Map<string, string>()
    async function ask(
      method: 'GET' | 'POST' | 'DELETE',
      url: string,
      { body, headers = { 'sec-fetch-site': 'same-origin' } }: Asked = {},
    ) {
      const response = await server.app.inject({
        method,
        url,
        headers: {
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body }),
      })
      for (const { name, value } of response.cookies) {
        if (value === '') cookies.delete(name)
        else cookies.set(name, encodeURIComponent(value))
      }
      return response
    }
    /** Returns where the browser is sent by Weft. */
    const visit = async (url: string) => String((await ask('GET', url)).headers.location)
    const begin = (path = '/auth/sign-in') => visit(path)
    const atProvider = (url: string) => walkProvider(url, ORIGIN)
    const finish = async (url: string) => visit(url.slice(ORIGIN.length))
    const signIn = async (path?: string) => finish(await atProvider(await begin(path)))
    return { cookies, ask, begin, atProvider, finish, signIn }
  }

  return { ...server, provider, openBrowser }
}

interface Asked {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}
