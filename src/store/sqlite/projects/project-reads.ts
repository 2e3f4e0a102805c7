/** The read jobs of projects: their list, and the sizes of their contents. */
import type { ContentSizes } from '../../api/projects/projects.ts'
import { SUM_TABLE_BYTES } from '../../base/objects/tables.sql.ts'
import type { ReadJob } from '../read/read-job.ts'
import { LIST_PROJECTS, SELECT_OBJECT_BYTES } from './projects.sql.ts'

/** Limit: versions of one statement. */
const PART_VERSIONS = 4096

interface VersionBytes {
  readonly object_id: string
  readonly version_index: number
  readonly bytes: number
  readonly deleted_at_us: number | null
}

export const sumContents: ReadJob<string, ContentSizes> = function* (db, project_id, checkpoint) {
  const select = db.prepare(SELECT_OBJECT_BYTES)
  let objects = 0
  let behind = { object_id: '', version_index: -1 }
  while (true) {
    const parameters = { project_id, ...behind, limit: PART_VERSIONS }
    const rows = select.all(parameters) as VersionBytes[]
    for (const { bytes, deleted_at_us } of rows) objects += deleted_at_us === null ? bytes : 0
    const last = rows.at(-1)
    if (last === undefined || rows.length < PART_VERSIONS) break
    behind = { object_id: last.object_id, version_index: last.version_index }
    if (checkpoint()) yield
  }
  const tables = db.prepare(SUM_TABLE_BYTES).pluck().get({ project_id }) as number
  return { objects, tables }
}

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
