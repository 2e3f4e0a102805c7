/** Whether projects have been written to. Those that have are cached: they stay so. */
import { first, type Steps } from '../db/steps.ts'
import { FIND_CONTENTS } from './project-contents.sql.ts'

/** Limit: cached names; beyond them the cache begins anew. */
const CACHED_MAX = 10_000

/** Whether a project has anything besides calls. */
export function* hasContents(project_id: string): Steps<boolean> {
  const [entity, project] = project_id.split('/')
  const found = yield* first<{ found: number }>(FIND_CONTENTS, { project_id, entity, project })
  return found !== undefined
}

/** @param find - asks the store */
export function cacheKnownProjects(
  find: (project_id: string) => Promise<boolean>,
): (project_id: string) => Promise<boolean> {
  const known = new Set<string>()
  return async (project_id) => {
    if (known.has(project_id)) return true
    if (!(await find(project_id))) return false
    if (known.size >= CACHED_MAX) known.clear()
    known.add(project_id)
    return true
  }
}
