/**
 * Reads the project of an inference request from a header, because the body has no field for it. Throws on failure
 * and never sends a response.
 */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { canUseProject } from '../domain/access/permissions.ts'
import { ApiError } from '../errors.ts'
import { ProjectId } from '../schemas/primitives.ts'
import { isProjectId } from '../schemas/shapes.ts'

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

/**
 * Returns the project `<team>/<project>` of the request, or null when it names none.
 *
 * @throws ApiError invalid_header for another shape, project_forbidden when the key may not use it;
 * `param` is the header's name
 *
 * Spec: §4.7.
 * Choice: a wrong value is refused, since usage that is tracked nowhere would be noticed too late; chats read the
 * header, too.
 */
export function requireProjectHeader(request: FastifyRequest): string | null {
  for (const { name, key } of NAMES) {
    const value = request.headers[key]
    if (value === undefined) continue
    if (typeof value !== 'string' || !isProjectId(value)) {
      const message = `${name} must have the shape <team>/<project>.`
      throw new ApiError('invalid_header', { param: name, message })
    }
    if (request.principal === null || !canUseProject(request.principal, value)) {
      throw new ApiError('project_forbidden', { param: name })
    }
    return value
  }
  return null
}
