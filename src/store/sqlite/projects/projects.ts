/** What is stored of projects as a whole, over SQLite. */
import type { ProjectStore } from '../../api/projects/projects.ts'
import type { ReadPool } from '../read/read-pool.ts'

export function createProjectStore(reads: ReadPool): ProjectStore {
  return {
    sumContents: (caller) => reads.run('content_sizes', caller.project_id, caller),
    listProjects: (caller) => reads.run('projects', null, caller),
  }
}
