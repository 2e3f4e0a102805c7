/**
 * Turns Basic or Bearer credentials into `request.principal`. Throws; never sends an answer itself.
 * Each scheme is registered in its own Fastify scope, so a route accepts exactly one.
 */
import basicAuthPlugin from '@fastify/basic-auth'
import type { FastifyRequest } from 'fastify'
import { keyOfHeaders } from '../domain/access/credentials.ts'
import type { Principal } from '../domain/access/permissions.ts'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

/** How keys are told; one that is told in another way may be right. */
export const BASIC_TAKEN =
  'This address takes the API key as the password of HTTP Basic credentials, with any user name.'
const BEARER_TAKEN = 'This address takes the API key as `Authorization: Bearer <key>`.'
const EITHER_TAKEN =
  'This address takes it as `Authorization: Bearer <key>` or as the password of HTTP Basic credentials.'

/** Finds the caller behind a key, or null. Must take the same time for near misses. */
type FindPrincipal = (key: string) => Promise<Principal | null>

/**
 * Basic: the password is the API key, the user name is free.
 *
 * Spec: §5. @throws ApiError missing_api_key, invalid_api_key (401, WWW-Authenticate: Basic)
 */
export async function useBasicAuthentication(app: App, findPrincipal: FindPrincipal) {
  await app.register(basicAuthPlugin, {
    authenticate: { realm: 'weft' },
    strictCredentials: false,
    async validate(_username: string, password: string, request: FastifyRequest) {
      if (password === '') throw new ApiError('invalid_api_key', { message: BASIC_TAKEN })
      request.principal = requirePrincipal(await findPrincipal(password))
    },
  })
  app.addHook('onRequest', app.basicAuth)
}

/**
 * Either scheme, for clients that can set headers but not choose what they mean.
 *
 * @throws ApiError missing_api_key, invalid_api_key
 */
export function useEitherAuthentication(app: App, findPrincipal: FindPrincipal): void {
  app.addHook('onRequest', async (request) => {
    const key = keyOfHeaders(request.headers)
    if (key === null) throw missingApiKey(EITHER_TAKEN)
    request.principal = requirePrincipal(await findPrincipal(key))
  })
}

const BEARER = 'bearer '

/**
 * Bearer: the token is the API key.
 *
 * Spec: §5. @throws ApiError missing_api_key, invalid_api_key (401, WWW-Authenticate: Bearer)
 */
export function useBearerAuthentication(app: App, findPrincipal: FindPrincipal): void {
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers
    if (!authorization) throw missingApiKey(BEARER_TAKEN)
    const isBearer = authorization.slice(0, BEARER.length).toLowerCase() === BEARER
    if (!isBearer) throw new ApiError('invalid_api_key', { message: BEARER_TAKEN })
    const key = authorization.slice(BEARER.length).trim()
    request.principal = requirePrincipal(await findPrincipal(key))
  })
}

/** @param taken - how the address takes a key */
export function missingApiKey(taken: string): ApiError {
  return new ApiError('missing_api_key', { message: `No API key was given. ${taken}` })
}

function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new ApiError('invalid_api_key')
  return principal
}
