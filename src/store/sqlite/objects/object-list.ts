/** The read job that lists objects: narrow rows first, then the contents of the matching ones. */

import type { ObjectVersion } from '../../../domain/objects/object-view.ts'
import type { ListedObject, ObjectListing } from '../../api/objects/objects.ts'
import { conditionsOf } from '../../base/objects/object-filter.ts'
import { requireFewBytes } from '../../base/objects/object-limits.ts'
import type { ReadJob } from '../read/read-job.ts'
import { FIND_JSON_VALUE, listObjects, OBJECT_ORDERS, type ObjectCondition } from './objects.sql.ts'

export const findObjects: ReadJob<ObjectListing, ListedObject[]> = (db, listing, checkpoint) => {
  const { project_id, limit, offset } = listing
  const order = listing.sort_by.map(({ field, direction }) => OBJECT_ORDERS[field][direction])
  const filter = toFilter(listing)
  const statement = db.prepare(
    listObjects(
      order.length > 0 ? order : [OBJECT_ORDERS.created_at.asc],
      Object.keys(filter) as ObjectCondition[],
    ),
  )
  const findContent = db.prepare(FIND_JSON_VALUE).pluck()
  const found: ListedObject[] = []
  let bytes = 0
  for (const row of statement.iterate({ project_id, limit, offset, ...filter })) {
    checkpoint()
    const version = row as ObjectVersion
    bytes += listing.withContent ? version.size_bytes : 0
    requireFewBytes(bytes, listing.contentBytesMax)
    const { digest } = version
    const content = listing.withContent ? findContent.get({ project_id, digest }) : null
    found.push({ version, val_json: content as string | null })
  }
  return found
}

/** Returns the parameters of the conditions that apply; lists as JSON. */
function toFilter({ filter }: ObjectListing): Partial<Record<ObjectCondition, string>> {
  const values = Object.entries(conditionsOf(filter)).filter(([, value]) => value !== null)
  return Object.fromEntries(
    values.map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
