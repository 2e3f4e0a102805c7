/** The project of a request: from its headers, else the key's only one. Pure. */

import { ApiError } from '../../errors.ts'
import { isProjectId } from '../../schemas/shapes.ts'
import { userOfHeaders } from '../access/credentials.ts'
import type { Principal } from '../access/permissions.ts'

/** Headers of HTTP or metadata of gRPC, by names in lower case. */
export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>

/** Headers that name a project in one piece; the first that is sent counts. */
const NAMES = ['project_id', 'compat-project', 'openai-project'] as const

/**
 * The project that the request names, or null.
 *
 * Exporters take headers out of an environment variable, where values may be percent-encoded. SDKs that send a pair of
 * keys as Basic credentials, and no other header, name it by the public one.
 *
 * @throws ApiError invalid_header for another shape than <entity>/<project>
 */
export function projectOfHeaders(headers: HeaderValues): string | null {
  for (const name of NAMES) {
    const value = headers[name]
    if (value !== undefined) return checked(decode(value), name)
  }
  const entity = headers['wandb.entity'] ?? headers['wandb-entity']
  const project = headers['wandb.project'] ?? headers['wandb-project']
  if (entity === undefined || project === undefined) {
    const user = userOfHeaders(headers)
    return user !== null && isProjectId(user) ? user : null
  }
  return checked(`${decode(entity)}/${decode(project)}`, 'wandb.project')
}

/** The one project that a key may use, or null. */
export function onlyProjectOf({ projects }: Principal): string | null {
  const [only] = projects
  return projects.length === 1 && only !== undefined && isProjectId(only) && !only.includes('*')
    ? only
    : null
}

function checked(project_id: string, param: string): string {
  if (isProjectId(project_id)) return project_id
  throw new ApiError('invalid_header', {
    param,
    message: `${param} must have the shape <entity>/<project>.`,
  })
}

function decode(value: string | string[]): string {
  const text = String(value)
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
