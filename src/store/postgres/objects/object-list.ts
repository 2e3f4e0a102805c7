/** Lists objects: narrow rows first, then the contents of those that matched. */
import type { ListedObject, ObjectListing } from '../../api/objects/objects.ts'
import { partsBySize } from '../../base/db/parts.ts'
import { listVersions } from '../../base/objects/object-reads.ts'
import type { Postgres } from '../db/client.ts'
import type { Checkpoint } from '../db/reads.ts'
import { runSteps } from '../db/run-steps.ts'
import { FIND_JSON_VALUES, OBJECTS } from './objects.sql.ts'

export async function findObjects(
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
