/** Published objects in SQLite: narrow rows of versions; contents are stored separately, once per project. */
import type { ObjectStore } from '../../api/objects/objects.ts'
import { findContent, findVersion } from '../../base/objects/object-reads.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'
import { OBJECTS } from './contents.sql.ts'

/** @param db - for reads on this thread */
export function createObjectStore(db: Connection, writes: Writes, reads: ReadPool): ObjectStore {
  const read = createStepReader(db)
  return {
    createObject: (object) => writes.run('create_object', object),
    findObject: (project_id, object_id, version, withMarks = true) =>
      read(findVersion(OBJECTS, { project_id, object_id }, version, withMarks)),
    findContent: (project_id, digest) => read(findContent(project_id, digest)),
    addTags: (marks) => writes.run('add_tags', marks),
    removeTags: (marks) => writes.run('remove_tags', marks),
    setAliases: (marks) => writes.run('set_aliases', marks),
    removeAliases: (removal) => writes.run('remove_aliases', removal),
    listTags: (caller) => reads.run('object_tags', caller.project_id, caller),
    listAliases: (caller) => reads.run('object_aliases', caller.project_id, caller),
    listObjects: (listing, caller) => reads.run('objects', listing, caller),
    deleteObjects: (project_id, object_id, versions, deleted_at_us) =>
      writes.run('delete_objects', { project_id, object_id, versions, deleted_at_us }),
  }
}
