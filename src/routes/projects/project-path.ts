/** The project named by an address. */
import type { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { ProjectPath } from '../../schemas/primitives.ts'
import { isProjectId } from '../../schemas/shapes.ts'

/** @throws ApiError validation_failed when it is not the id of a project */
export function projectOf({ entity, project }: z.infer<typeof ProjectPath>): string {
  const project_id = `${entity}/${project}`
  if (isProjectId(project_id)) return project_id
  throw new ApiError('validation_failed', { param: 'project' })
}
