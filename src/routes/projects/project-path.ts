/** The project named by an address. */
import type { z } from 'zod'
import { ApiError } from '../../errors.ts'
import { ProjectId, type ProjectPath } from '../../schemas/primitives.ts'

/** @throws ApiError validation_failed when it is not the id of a project */
export function projectOf({ entity, project }: z.infer<typeof ProjectPath>): string {
  const project_id = `${entity}/${project}`
  if (!ProjectId.safeParse(project_id).success) {
    throw new ApiError('validation_failed', { param: 'project' })
  }
  return project_id
}
