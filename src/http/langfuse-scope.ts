/**
 * The scope of Langfuse's API: the pair of its keys is Basic credentials, of which the secret is a key of Weft and the
 * public one may name the project; errors have their message at the top, too.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Principal,
  requireAccess,
  requireScope,
  type Scope,
} from '../domain/access/permissions.ts'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import { onlyProjectOf, projectOfHeaders } from '../domain/projects/named-project.ts'
import { ApiError, toErrorBody } from '../errors.ts'
import type { App } from './app-type.ts'
import { openReadCaller } from './stream/read-caller.ts'

/** Gives all routes of a scope the errors that Langfuse's SDKs print. */
export function useLangfuseErrors(app: App): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, renderError: renderLangfuseError }
  })
}

function renderLangfuseError(error: ApiError) {
  const body = { message: error.message, ...toErrorBody(error) }
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

/** Who asks, and for which project. */
export interface LangfuseCaller {
  readonly project_id: string
  readonly principal: Principal
  readonly reader: ReadCaller
}

/**
 * Returns the caller of a request and its project, which the SDKs have no field for: that of a header, of the public key
 * in the shape `<entity>/<project>`, or the only one of the key.
 *
 * @param scopes - all that the route demands: one that changes something and responds with what is stored demands both
 * @throws ApiError missing_api_key, scope_missing, project_forbidden, otlp_project_missing
 */
export function requireLangfuseCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  ...scopes: readonly [Scope, ...Scope[]]
): LangfuseCaller {
  const [scope, ...others] = scopes
  const allowed = requireScope(request.principal, scope)
  const project_id = projectOfHeaders(request.headers) ?? onlyProjectOf(allowed)
  if (project_id === null) {
    const message =
      'No project is named. Use <entity>/<project> as the public key, or a key of one project.'
    throw new ApiError('otlp_project_missing', { message })
  }
  const principal = requireAccess(request.principal, scope, project_id)
  for (const other of others) requireAccess(request.principal, other, project_id)
  return { project_id, principal, reader: openReadCaller(request, reply, project_id) }
}
