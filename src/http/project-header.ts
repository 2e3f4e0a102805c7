/**
 * Headers about projects: inference requests name theirs in one, because the body has no field for it; a response to
 * a request that names a project without any data, such as a misspelt one, is marked by another.
 */

import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { z } from 'zod'
import { canUseProject, type Principal } from '../domain/access/permissions.ts'
import { ApiError } from '../errors.ts'
import { ProjectId } from '../schemas/primitives.ts'
import { isProjectId } from '../schemas/shapes.ts'
import type { App } from './app-type.ts'

/** Names of the header, by precedence; client libraries send the second one. */
const NAMES = ['Compat-Project', 'OpenAI-Project'].map((name) => ({
  name,
  key: name.toLowerCase(),
}))

/**
 * Schema of the headers for the OpenAPI document only. The handler reads the headers itself, because a wrong value is
 * an invalid_header.
 */
export const ProjectHeaders = z.object({
  'Compat-Project': ProjectId.optional().describe(
    'Project `<team>/<project>` that the request counts for; a completion is recorded as a call of it.',
  ),
  'OpenAI-Project': ProjectId.optional().describe(
    'The same, under the name that client libraries send; used when Compat-Project is absent.',
  ),
})

/** The headers of requests whose responses can be cached, for the document only. */
export const CacheableHeaders = ProjectHeaders.extend({
  'X-Weft-Cache': z
    .enum(['on', 'off'])
    .optional()
    .describe('Whether a cached completion may answer. Default: as the entry of the model says.'),
  'Cache-Control': z
    .string()
    .optional()
    .describe('`no-store`, `no-cache` and `max-age` are honoured for cached completions.'),
})

/**
 * Returns the project `<team>/<project>` of the request, or null when it names none.
 *
 * @param caller - with the projects in which it may do what is requested
 * @throws ApiError invalid_header for another shape, project_forbidden when the key may not use it;
 * `param` is the header's name
 *
 * Spec: §4.7.
 * Choice: a wrong value is refused, since usage that is tracked nowhere would be noticed too late; chats read the
 * header, too.
 */
export function requireProjectHeader(
  request: FastifyRequest,
  caller: Pick<Principal, 'projects'>,
): string | null {
  for (const { name, key } of NAMES) {
    const value = request.headers[key]
    if (value === undefined) continue
    if (typeof value !== 'string' || !isProjectId(value)) {
      const message = `${name} must have the shape <team>/<project>.`
      throw new ApiError('invalid_header', { param: name, message })
    }
    if (!canUseProject(caller, value)) throw new ApiError('project_forbidden', { param: name })
    return value
  }
  return null
}

interface UnknownProjectOptions {
  hasProject(projectId: string): Promise<boolean>
}

/**
 * Adds `x-weft-project: unknown` to responses about such a project. The store is checked after the handler, so that
 * the first write to a new project has no such header. Callers without access to the project get no header.
 *
 * Spec: §4 (queries of unknown projects not shown). Choice: no error, because a project begins with its first call;
 * the header distinguishes a misspelt name from a time range without calls.
 */
export const unknownProject = fp<UnknownProjectOptions>(
  async (app: App, { hasProject }) => {
    app.addHook('onSend', (request, reply, payload, done) => {
      const project = projectOf(request)
      const mayReport = project !== null && reply.statusCode < 500
      if (!mayReport || !request.principal || !canUseProject(request.principal, project)) {
        done(null, payload)
        return
      }
      hasProject(project)
        .then((isKnown) => {
          if (!isKnown) reply.header('x-weft-project', 'unknown')
        })
        // An unavailable store has already determined the response.
        .catch(() => undefined)
        .finally(() => done(null, payload))
    })
  },
  { name: 'unknown-project' },
)

/** Returns the project in a field of the body, the query string or the path; null if there is none. */
function projectOf({ body, query, params }: FastifyRequest): string | null {
  const [inBody, inQuery] = [body, query].map(
    (part) => (part as { readonly project_id?: unknown } | null | undefined)?.project_id,
  )
  const { entity, project } = (params ?? {}) as Readonly<Record<string, string | undefined>>
  const found = inBody ?? inQuery ?? (entity && project ? `${entity}/${project}` : null)
  return typeof found === 'string' && isProjectId(found) ? found : null
}
