/** Routes of one project whose response is a JSON object, not a stream: authorize, then respond. */
import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import type { z } from 'zod'
import { type Principal, requireAccess } from '../domain/access/permissions.ts'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import type { App } from './app-type.ts'
import { openReadCaller } from './stream/read-caller.ts'

/** The route's part of the OpenAPI document. */
interface ProjectRouteSchema<Body extends z.ZodType, Response extends z.ZodType> {
  readonly tags: readonly string[]
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly config?: FastifyContextConfig
  readonly body: Body
  readonly response: Response
}

/** Adds a POST route whose body names the project; its callers need `traces:read` there. */
export function addProjectRead<
  Body extends z.ZodType<{ readonly project_id: string }>,
  Response extends z.ZodType,
>(
  app: App,
  url: string,
  { tags, response, config = {}, ...schema }: ProjectRouteSchema<Body, Response>,
  respond: (body: z.output<Body>, caller: ReadCaller) => Promise<z.input<Response>>,
): void {
  const shown: FastifySchema = { ...schema, tags, response: { 200: response } }
  app.post(url, { config, schema: shown }, async (request, reply) => {
    const body = request.body as z.output<Body>
    requireAccess(request.principal, 'traces:read', body.project_id)
    return respond(body, openReadCaller(request, reply, body.project_id))
  })
}

/** Adds a POST route that changes the project of its body; its callers need `traces:write` there. */
export function addProjectWrite<
  Body extends z.ZodType<{ readonly project_id: string }>,
  Response extends z.ZodType,
>(
  app: App,
  url: string,
  { tags, response, config = {}, ...schema }: ProjectRouteSchema<Body, Response>,
  respond: (
    body: z.output<Body>,
    principal: Principal,
    request: FastifyRequest,
  ) => Promise<z.input<Response>>,
): void {
  const shown: FastifySchema = { ...schema, tags, response: { 200: response } }
  app.post(url, { config, schema: shown }, async (request) => {
    const body = request.body as z.output<Body>
    const principal = requireAccess(request.principal, 'traces:write', body.project_id)
    return respond(body, principal, request as FastifyRequest)
  })
}
