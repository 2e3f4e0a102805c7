/** The read jobs that list the tags and the aliases of a project. */
import { NAMES_MAX } from '../../base/objects/object-limits.ts'
import type { ReadJob } from '../read/read-job.ts'
import { LIST_ALIASES, LIST_TAGS } from './marks.sql.ts'

export const listTags = createNameList(LIST_TAGS)
export const listAliases = createNameList(LIST_ALIASES)

function createNameList(statement: string): ReadJob<string, string[]> {
  return (db, project_id, checkpoint) => {
    const names = new Set<string>()
    for (const name of db.prepare(statement).pluck().iterate({ project_id })) {
      checkpoint()
      names.add(name as string)
    }
    // Sorts by bytes, as everywhere in the store; sorting by code units would put '😀' before '\uffee'.
    const sorted = [...names].map((name) => Buffer.from(name)).sort(Buffer.compare)
    return sorted.slice(0, NAMES_MAX).map(String)
  }
}
