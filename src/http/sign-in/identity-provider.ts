/** The code flow with PKCE at an identity provider of OpenID Connect. */
import * as oidc from 'openid-client'
import type { ClaimRule } from '../../schemas/access/person.ts'

/** How Weft is known to the provider. */
export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, by PKCE alone. Secret. */
  readonly clientSecret: string | null
  readonly scopes: string
  /** What claims give which roles. */
  readonly rules: readonly ClaimRule[]
}

/** Limits: seconds of a request to the provider, and between its clock and this one. */
const REQUEST_S_MAX = 10
const CLOCK_SKEW_S_MAX = 60
/** How long the provider's addresses are cached. */
const METADATA_MS = 60_000

/** What a browser must bring back, sealed in its cookie. */
export interface SignInChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface SignedIn {
  readonly issuer: string
  readonly subject: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly idToken: string
}

export interface IdentityProvider {
  /** Returns where the browser signs in. @throws when the provider cannot be reached */
  begin(): Promise<SignInChecks & { readonly url: string }>
  /**
   * Returns who has signed in.
   *
   * @param search - query of the callback
   * @throws for a wrong state, nonce, signature or time, and when the provider cannot be reached
   */
  finish(search: string, checks: SignInChecks): Promise<SignedIn>
  /** Returns where the browser signs out; null when the provider has no such address or cannot be reached. */
  findEnd(idToken: string | null): Promise<string | null>
}

/** @param publicOrigin - address of this server in browsers, without a path */
export function createIdentityProvider(
  config: ProviderSettings,
  publicOrigin: string,
): IdentityProvider {
  const { clientId } = config
  const redirect_uri = `${publicOrigin}/auth/callback`
  let cached: { readonly metadata: Promise<oidc.Configuration>; readonly endMs: number } | null =
    null

  /** One request for all who sign in at once; a failure is not cached. */
  function discover(): Promise<oidc.Configuration> {
    const now = performance.now()
    if (cached !== null && now < cached.endMs) return cached.metadata
    const metadata = readMetadata(config)
    cached = { metadata, endMs: now + METADATA_MS }
    metadata.catch(() => {
      cached = null
    })
    return metadata
  }

  return {
    async begin() {
      const metadata = await discover()
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const url = oidc.buildAuthorizationUrl(metadata, {
        redirect_uri,
        scope: config.scopes,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      })
      return { ...checks, url: url.href }
    },
    async finish(search, { state, nonce, verifier }) {
      // Not the cached one: it caches keys, too, and the provider may have rotated them.
      const metadata = await readMetadata(config)
      const url = new URL(redirect_uri)
      url.search = search
      const tokens = await oidc.authorizationCodeGrant(metadata, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined || tokens.id_token === undefined) throw new Error('no ID token')
      const hasMore = metadata.serverMetadata().userinfo_endpoint !== undefined
      const more = hasMore
        ? await oidc.fetchUserInfo(metadata, tokens.access_token, claims.sub)
        : {}
      const { iss: issuer, sub: subject } = claims
      return { issuer, subject, claims: { ...more, ...claims }, idToken: tokens.id_token }
    },
    async findEnd(idToken) {
      try {
        const metadata = await discover()
        if (metadata.serverMetadata().end_session_endpoint === undefined) return null
        return oidc.buildEndSessionUrl(metadata, {
          client_id: clientId,
          post_logout_redirect_uri: `${publicOrigin}/`,
          ...(idToken === null ? {} : { id_token_hint: idToken }),
        }).href
      } catch {
        return null
      }
    },
  }
}

function readMetadata({ issuer, clientId, clientSecret }: ProviderSettings) {
  const isPlain = issuer.startsWith('http:')
  return oidc.discovery(
    new URL(issuer),
    clientId,
    {
      [oidc.clockTolerance]: CLOCK_SKEW_S_MAX,
      ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    },
    clientSecret === null ? oidc.None() : undefined,
    {
      timeout: REQUEST_S_MAX,
      execute: [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])],
    },
  )
}
