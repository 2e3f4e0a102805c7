/** The read job that lists the projects that have calls. */
import type { ReadJob } from '../read/read-job.ts'
import { LIST_PROJECTS } from './projects.sql.ts'

/** Limit: projects of one statement. */
const PART_PROJECTS = 4096

export const listProjects: ReadJob<null, string[]> = function* (db, _input, checkpoint) {
  const statement = db.prepare(LIST_PROJECTS).pluck()
  const names: string[] = []
  while (true) {
    const part = statement.all({ after: names.at(-1) ?? '', limit: PART_PROJECTS }) as string[]
    names.push(...part)
    if (part.length < PART_PROJECTS) return names
    if (checkpoint()) yield
  }
}
