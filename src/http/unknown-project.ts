/** Header that marks a response whose request names a project without any data, such as a misspelt one. */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { canUseProject } from '../domain/access/permissions.ts'
import { isProjectId } from '../schemas/shapes.ts'
import type { App } from './app-type.ts'

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
