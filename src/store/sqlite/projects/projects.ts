/** Projects in SQLite: their list, and the sizes of their contents. */
import type { ProjectStore } from '../../api/projects/projects.ts'
import { first } from '../../base/db/steps.ts'
import { cacheKnownProjects, hasContents } from '../../base/projects/project-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { FIND_PROJECT } from './projects.sql.ts'

/** @param db - for reads on this thread */
export function createProjectStore(db: Connection, reads: ReadPool): ProjectStore {
  const read = createStepReader(db)
  return {
    hasProject: cacheKnownProjects(
      async (project_id) =>
        (await read(first(FIND_PROJECT, { project_id }))) !== undefined ||
        (await read(hasContents(project_id))),
    ),
    sumContents: (caller) => reads.run('content_sizes', caller.project_id, caller),
    listProjects: (caller) => reads.run('projects', null, caller),
  }
}
