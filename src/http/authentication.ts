/**
 * Who asks: Basic or Bearer credentials to `request.principal`. Throws, never answers by itself.
 * Each scheme is installed in a scope of its own, so that a route takes exactly one.
 */
import basicAuthPlugin from '@fastify/basic-auth'
import bearerAuthPlugin from '@fastify/bearer-auth'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../domain/permissions.ts'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

/** Finds the caller behind a key, or null. Must take the same time for near misses. */
export type FindPrincipal = (key: string) => Principal | null

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
      request.principal = requirePrincipal(findPrincipal(password))
    },
  })
  app.addHook('onRequest', app.basicAuth)
}

/**
 * Bearer: the token is the API key.
 *
 * Spec: §5. @throws ApiError missing_api_key, invalid_api_key (401, WWW-Authenticate: Bearer)
 */
export async function useBearerAuthentication(app: App, findPrincipal: FindPrincipal) {
  await app.register(bearerAuthPlugin, {
    keys: new Set<string>(),
    addHook: false,
    specCompliance: 'rfc6749',
    // Refused keys are logged once, by the error handler.
    verifyErrorLogLevel: 'debug',
    auth(key: string, request: FastifyRequest) {
      request.principal = findPrincipal(key)
      return request.principal !== null
    },
  })
  const verify = app.verifyBearerAuth
  if (!verify) throw new Error('bearer authentication is not installed')
  app.addHook('onRequest', verify)
}

function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new ApiError('invalid_api_key')
  return principal
}
