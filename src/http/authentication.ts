/**
 * Turns Basic or Bearer credentials into `request.principal`. Throws on failure and never sends a response. Each
 * scheme is registered in its own Fastify scope, so a route accepts exactly one.
 */
import basicAuthPlugin from '@fastify/basic-auth'
import bearerAuthPlugin from '@fastify/bearer-auth'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { keyOfHeaders, keysOfHeaders } from '../domain/access/credentials.ts'
import type { Principal } from '../domain/access/permissions.ts'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

/** Hint added to a 401: how this route expects the key. A valid key sent by another scheme is refused, too. */
const BASIC_HINT =
  'This address takes the API key as the password of HTTP Basic credentials, with any user name.'
const BEARER_HINT = 'This address takes the API key as `Authorization: Bearer <key>`.'
const EITHER_HINT =
  'This address takes it as `Authorization: Bearer <key>` or as the password of HTTP Basic credentials.'

const KEY_HEADER_HINT =
  'This address takes the API key as `Authorization: Bearer <key>`, `x-api-key: <key>` or `x-goog-api-key: <key>`.'

/** The codes of the plugins' errors, by which the hint is chosen. */
const PLUGIN_CODES = /^FST_(BASIC|BEARER)_AUTH_(?:MISSING|INVALID_AUTHORIZATION)/

/** The keys that are accepted. */
export interface KnownKeys {
  /** Finds the principal of a key, or null. Must run in constant time for similar keys. */
  findPrincipal(key: string): Promise<Principal | null>
  /** Whether it was a key until it expired. */
  hasExpired(key: string): Promise<boolean>
}

/**
 * Returns the caller of the first key that is valid.
 *
 * @throws ApiError invalid_api_key, which says whether one of them has expired
 */
export async function identify(keys: KnownKeys, ...sent: readonly string[]): Promise<Principal> {
  for (const key of sent) {
    const principal = await keys.findPrincipal(key)
    if (principal !== null) return principal
  }
  for (const key of sent) {
    if (!(await keys.hasExpired(key))) continue
    throw new ApiError('invalid_api_key', { message: 'The API key has expired.' })
  }
  throw new ApiError('invalid_api_key')
}

/**
 * Basic: the password is the API key, the user name is free.
 *
 * Spec: §5. @throws ApiError missing_api_key, invalid_api_key (401, WWW-Authenticate: Basic)
 */
export async function useBasicAuthentication(app: App, keys: KnownKeys) {
  await app.register(basicAuthPlugin, {
    authenticate: { realm: 'weft' },
    strictCredentials: false,
    async validate(_username: string, password: string, request: FastifyRequest) {
      if (password === '') throw new ApiError('invalid_api_key', { message: BASIC_HINT })
      request.principal = await identify(keys, password)
    },
  })
  useUnlessSignedIn(app, app.basicAuth as onRequestHookHandler)
}

/**
 * Either scheme, for clients that can set headers but not choose what they mean.
 *
 * @throws ApiError missing_api_key, invalid_api_key
 */
export function useEitherAuthentication(app: App, keys: KnownKeys): void {
  app.addHook('onRequest', async (request) => {
    if (request.principal !== null) return
    const key = keyOfHeaders(request.headers)
    if (key === null) throw missingApiKey(EITHER_HINT)
    request.principal = await identify(keys, key)
  })
}

/**
 * Bearer, or `x-api-key` and `x-goog-api-key` as clients of Anthropic's and Google's APIs send it. Some send two with
 * different values: one valid key is enough.
 *
 * @throws ApiError missing_api_key, invalid_api_key
 */
export function useKeyHeaderAuthentication(app: App, keys: KnownKeys): void {
  app.addHook('onRequest', async (request) => {
    if (request.principal !== null) return
    const sent = keysOfHeaders(request.headers)
    const { authorization } = request.headers
    if (sent.length === 0 && !authorization) throw missingApiKey(KEY_HEADER_HINT)
    if (sent.length === 0) throw new ApiError('invalid_api_key', { message: KEY_HEADER_HINT })
    request.principal = await identify(keys, ...sent)
  })
}

/**
 * Bearer: the token is the API key.
 *
 * Spec: §5. @throws ApiError missing_api_key, invalid_api_key (401, WWW-Authenticate: Bearer)
 */
export async function useBearerAuthentication(app: App, keys: KnownKeys) {
  await app.register(bearerAuthPlugin, {
    keys: new Set<string>(),
    async auth(key, request) {
      request.principal = await identify(keys, key)
      return true
    },
    // The name of the scheme is case-insensitive, as in HTTP.
    specCompliance: 'rfc6749',
    // The plugin's own hook would send its own response.
    addHook: false,
    // No line of its own, which its types do not know: the line of the request has the refusal.
    verifyErrorLogLevel: null as never,
  })
  useUnlessSignedIn(app, app.verifyBearerAuth as onRequestHookHandler)
}

/** Adds the hook of a scheme, which requests with the session of a person do not need. */
function useUnlessSignedIn(app: App, authenticate: onRequestHookHandler): void {
  app.addHook('onRequest', function check(request, reply, done) {
    if (request.principal === null) return authenticate.call(this, request, reply, done)
    done()
  })
}

/** Converts an error of the plugins for Basic and Bearer; returns null for any other error. */
export function toAuthenticationError(code: string, { headers }: FastifyRequest): ApiError | null {
  const [, scheme] = PLUGIN_CODES.exec(code) ?? []
  if (scheme === undefined) return null
  const hint = scheme === 'BASIC' ? BASIC_HINT : BEARER_HINT
  if (!headers.authorization) return missingApiKey(hint)
  return new ApiError('invalid_api_key', { message: hint })
}

function missingApiKey(hint: string): ApiError {
  return new ApiError('missing_api_key', { message: `No API key was given. ${hint}` })
}
