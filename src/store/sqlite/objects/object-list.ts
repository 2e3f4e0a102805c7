/** The read jobs that list objects, and the tags and aliases of a project. */
import type { ListedObject, ObjectListing } from '../../api/objects/objects.ts'
import { LIST_ALIASES, LIST_TAGS } from '../../base/objects/marks.sql.ts'
import { findContent, listNames, listVersions } from '../../base/objects/object-reads.ts'
import { createStepRunner } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'
import { OBJECTS } from './contents.sql.ts'

/** Narrow rows first, then the contents of the matching ones. */
export const findObjects: ReadJob<ObjectListing, ListedObject[]> = (db, listing, checkpoint) => {
  const run = createStepRunner(db)
  return run(listVersions(OBJECTS, listing)).map((version) => {
    checkpoint()
    const { project_id, digest } = version
    return { version, val_json: listing.withContent ? run(findContent(project_id, digest)) : null }
  })
}

export const listTags: ReadJob<string, string[]> = (db, project_id) =>
  createStepRunner(db)(listNames(LIST_TAGS, project_id))

export const listAliases: ReadJob<string, string[]> = (db, project_id) =>
  createStepRunner(db)(listNames(LIST_ALIASES, project_id))
