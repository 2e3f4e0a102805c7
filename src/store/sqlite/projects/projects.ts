/** Projects in SQLite: their list, and the sizes of their contents. */
import type { ProjectStore } from '../../api/projects/projects.ts'
import type { ReadPool } from '../read/read-pool.ts'

export function createProjectStore(reads: ReadPool): ProjectStore {
  return {
    sumContents: (caller) => reads.run('content_sizes', caller.project_id, caller),
    listProjects: (caller) => reads.run('projects', null, caller),
  }
}
