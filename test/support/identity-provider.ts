/** An identity provider on a free port, which signs in everybody at once as the account that is set. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { onTestFinished } from 'vitest'

interface TestIdentityProvider {
  readonly issuer: string
  /** Who signs in next, with these claims. */
  account: { sub: string } & Record<string, unknown>
  /** Seconds by which the clock is ahead in ID tokens, which last one second. */
  aheadS: number
  /** Signs with another key from now on, and forgets the one before. */
  rotate(): void
  close(): Promise<void>
}

/** @param publicOrigin - of the only client, `weft` */
export async function openIdentityProvider(publicOrigin: string): Promise<TestIdentityProvider> {
  let handle: RequestListener | null = null
  let provider: Provider | null = null
  let signingKey: KeyObject | null = null
  const server = createServer(async (request, response) => {
    if (request.url === '/token' && own.aheadS !== 0 && signingKey !== null) {
      shiftTokens(response, own.aheadS, signingKey)
    }
    if (!request.url?.startsWith('/interaction/')) return handle?.(request, response)
    const result = { login: { accountId: own.account.sub } }
    await provider?.interactionFinished(request, response, result)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let keys = 0
  const own: TestIdentityProvider = {
    issuer,
    account: { sub: 'ada' },
    aheadS: 0,
    rotate() {
      keys += 1
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      signingKey = privateKey
      const jwk = { ...privateKey.export({ format: 'jwk' }), kid: `key-${keys}`, use: 'sig' }
      provider = new Provider(issuer, configure(publicOrigin, own, jwk))
      handle = provider.callback()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  own.rotate()
  onTestFinished(own.close)
  return own
}

function configure(publicOrigin: string, own: TestIdentityProvider, jwk: object) {
  return {
    jwks: { keys: [jwk] },
    cookies: { keys: ['cookies of the provider'] },
    clients: [
      {
        client_id: 'weft',
        client_secret: 'secret of the client',
        redirect_uris: [`${publicOrigin}/auth/callback`],
        post_logout_redirect_uris: [`${publicOrigin}/`],
      },
    ],
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    claims: {
      openid: ['sub', 'groups'],
      email: ['email', 'email_verified'],
      profile: ['name'],
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: { IdToken: 1 },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ ...own.account, sub: accountId }),
    }),
    // biome-ignore lint/suspicious/noExplicitAny: the provider's own context.
    async loadExistingGrant({ oidc }: any) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}

/** Sends the response with an ID token of a clock that differs. */
function shiftTokens(response: ServerResponse, aheadS: number, key: KeyObject): void {
  const end = response.end.bind(response)
  response.end = ((body: string | Buffer) => {
    const tokens = JSON.parse(String(body))
    const [head, part = ''] = String(tokens.id_token).split('.')
    const claims = JSON.parse(Buffer.from(part, 'base64url').toString())
    const shifted = { ...claims, iat: claims.iat + aheadS, exp: claims.exp + aheadS }
    const text = `${head}.${Buffer.from(JSON.stringify(shifted)).toString('base64url')}`
    const signature = sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')
    const sent = JSON.stringify({ ...tokens, id_token: `${text}.${signature}` })
    response.setHeader('content-length', Buffer.byteLength(sent))
    return end(sent)
  }) as never
}

/** Follows the redirects of the provider as a browser. @returns the address of the client at their end */
export async function walkProvider(start: string, publicOrigin: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; steps < 10 && !url.startsWith(publicOrigin); steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const next = response.headers.get('location')
    if (next === null)
      throw new Error(`the provider stops: ${response.status} ${await response.text()}`)
    url = new URL(next, url).href
  }
  return url
}
