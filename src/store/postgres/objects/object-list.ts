/** Lists objects: narrow rows first, then the contents of those that matched. */
import type { ListedObject, ObjectListing } from '../../api/objects/objects.ts'
import { conditionsOf } from '../../base/objects/object-filter.ts'
import { requireFewBytes } from '../../base/objects/object-limits.ts'
import type { Postgres } from '../db/client.ts'
import { partsBySize } from '../db/parts.ts'
import type { Checkpoint } from '../db/reads.ts'
import { toKeyed, type VersionRow } from './object-versions.ts'
import { FIND_JSON_VALUES, listObjects, OBJECT_ORDERS } from './objects.sql.ts'

export async function findObjects(
  db: Postgres,
  listing: ObjectListing,
  checkpoint: Checkpoint,
): Promise<ListedObject[]> {
  const order = listing.sort_by.map(({ field, direction }) => OBJECT_ORDERS[field][direction])
  const sql = listObjects(order.length > 0 ? order : [OBJECT_ORDERS.created_at.asc])
  const { project_id, limit, offset, filter } = listing
  const parameters = { project_id, limit, offset, ...conditionsOf(filter) }
  const rows = await db.snapshot((tx) => tx.all<VersionRow>(sql, parameters))
  const versions = rows.map((row) => toKeyed(row).version)
  if (!listing.withContent) return versions.map((version) => ({ version, val_json: null }))
  const sum = versions.reduce((bytes, { size_bytes }) => bytes + size_bytes, 0)
  requireFewBytes(sum, listing.contentBytesMax)
  const found: ListedObject[] = []
  for (const part of partsBySize(
    versions.map((version) => ({ version, bytes: version.size_bytes })),
  )) {
    checkpoint()
    const digests = part.map(({ version }) => version.digest)
    const texts = await findContents(db, project_id, digests)
    for (const { version } of part) {
      found.push({ version, val_json: texts.get(version.digest) ?? null })
    }
  }
  return found
}

/** Texts of contents of a project by their digests. */
export async function findContents(
  db: Pick<Postgres, 'all'>,
  project_id: string,
  digests: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  type Content = { digest: string; val_json: string }
  const rows = await db.all<Content>(FIND_JSON_VALUES, { project_id, digests })
  return new Map(rows.map(({ digest, val_json }) => [digest, val_json]))
}
