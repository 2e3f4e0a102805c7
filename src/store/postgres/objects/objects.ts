/** Published objects in PostgreSQL: narrow version rows, and contents stored once per project. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ListedObject, ObjectListing, ObjectStore } from '../../api/objects/objects.ts'
import { partsBySize } from '../../base/db/sizes.ts'
import type { Steps } from '../../base/db/steps.ts'
import { LIST_ALIASES, LIST_TAGS } from '../../base/objects/marks.sql.ts'
import {
  findContent,
  findVersion,
  listNames,
  listVersions,
  type ObjectName,
} from '../../base/objects/object-reads.ts'
import { createObjectWrites } from '../../base/objects/object-writes.ts'
import type { Postgres } from '../db/client.ts'
import type { Checkpoint, Reads } from '../db/reads.ts'
import { runSteps } from '../db/run-steps.ts'
import { FIND_JSON_VALUES, LOCK_OBJECT, OBJECTS } from './objects.sql.ts'

const WRITES = createObjectWrites(OBJECTS)

export function createObjectStore(db: Postgres, reads: Reads): ObjectStore {
  const change =
    <Input extends ObjectName, T>(write: (input: Input) => Steps<T>) =>
    (input: Input) =>
      db.transaction(async (tx) => {
        const { project_id, object_id } = input
        await tx.all(LOCK_OBJECT, { project_id, object_id })
        return runSteps(tx, write(input))
      })
  const listOf = (sql: string) => (caller: ReadCaller) =>
    reads.run(caller, () => db.snapshot((tx) => runSteps(tx, listNames(sql, caller.project_id))))
  const deleteObjects = change(WRITES.delete_objects)

  return {
    createObject: change(WRITES.create_object),
    findObject: (project_id, object_id, version, withMarks = true) =>
      runSteps(db, findVersion(OBJECTS, { project_id, object_id }, version, withMarks)),
    findContent: (project_id, digest) => runSteps(db, findContent(project_id, digest)),
    addTags: change(WRITES.add_tags),
    removeTags: change(WRITES.remove_tags),
    setAliases: change(WRITES.set_aliases),
    removeAliases: change(WRITES.remove_aliases),
    listTags: listOf(LIST_TAGS),
    listAliases: listOf(LIST_ALIASES),
    listObjects: (listing, caller) =>
      reads.run(caller, (checkpoint) => findObjects(db, listing, checkpoint)),
    deleteObjects: (project_id, object_id, versions, deleted_at_us) =>
      deleteObjects({ project_id, object_id, versions, deleted_at_us }),
  }
}

async function findObjects(
  db: Postgres,
  listing: ObjectListing,
  checkpoint: Checkpoint,
): Promise<ListedObject[]> {
  const { project_id } = listing
  const versions = await db.snapshot((tx) => runSteps(tx, listVersions(OBJECTS, listing)))
  if (!listing.withContent) return versions.map((version) => ({ version, val_json: null }))
  const found: ListedObject[] = []
  for (const part of partsBySize(
    versions.map((version) => ({ version, bytes: version.size_bytes })),
  )) {
    checkpoint()
    const digests = part.map(({ version }) => version.digest)
    type Content = { digest: string; val_json: string }
    const rows = await db.all<Content>(FIND_JSON_VALUES, { project_id, digests })
    const texts = new Map(rows.map(({ digest, val_json }) => [digest, val_json]))
    for (const { version } of part) {
      found.push({ version, val_json: texts.get(version.digest) ?? null })
    }
  }
  return found
}
