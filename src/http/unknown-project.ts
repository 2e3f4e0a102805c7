/** Says in a header that a request names a project to which nothing was ever written, as a misspelt one. */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { canUseProject } from '../domain/access/permissions.ts'
import { isProjectId } from '../schemas/shapes.ts'
import type { App } from './app-type.ts'

interface UnknownProjectOptions {
  hasProject(projectId: string): Promise<boolean>
}

/**
 * Adds `x-weft-project: unknown` to responses about such a project. It is read from the response's side, so that a
 * write to a new project does not have it. Callers who may not use the project are told nothing.
 *
 * Spec: §4 (queries of unknown projects not shown). Choice: they are no errors, because a project begins with its
 * first call; the header tells a misspelt name from a time without calls.
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
        // A store that is gone has made the response what it is.
        .catch(() => undefined)
        .finally(() => done(null, payload))
    })
  },
  { name: 'unknown-project' },
)

/** The project in a field of the body, the query string or the path; null if there is none. */
function projectOf({ body, query, params }: FastifyRequest): string | null {
  const [inBody, inQuery] = [body, query].map(
    (part) => (part as { readonly project_id?: unknown } | null | undefined)?.project_id,
  )
  const { entity, project } = (params ?? {}) as Readonly<Record<string, string | undefined>>
  const found = inBody ?? inQuery ?? (entity && project ? `${entity}/${project}` : null)
  return typeof found === 'string' && isProjectId(found) ? found : null
}
