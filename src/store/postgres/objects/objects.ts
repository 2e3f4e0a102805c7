/** Published objects in PostgreSQL: narrow version rows, and contents stored once per project. */

import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ObjectStore } from '../../api/objects/objects.ts'
import { NAMES_MAX } from '../../base/objects/object-limits.ts'
import type { Postgres } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { LIST_ALIASES, LIST_TAGS } from './marks.sql.ts'
import { findContents, findObjects } from './object-list.ts'
import { findVersion } from './object-versions.ts'
import { createObjectWrites } from './object-writes.ts'

export function createObjectStore(db: Postgres, reads: Reads): ObjectStore {
  const listNames = (sql: string) => (caller: ReadCaller) =>
    reads.run(caller, async () => {
      const parameters = { project_id: caller.project_id, limit: NAMES_MAX }
      const rows = await db.snapshot((tx) => tx.all<{ name: string }>(sql, parameters))
      return rows.map(({ name }) => name)
    })
  return {
    ...createObjectWrites(db),
    async findObject(project_id, object_id, version) {
      return (await findVersion(db, project_id, object_id, version))?.version ?? null
    },
    async findContent(project_id, digest) {
      return (await findContents(db, project_id, [digest])).get(digest) ?? null
    },
    listTags: listNames(LIST_TAGS),
    listAliases: listNames(LIST_ALIASES),
    listObjects: (listing, caller) =>
      reads.run(caller, (checkpoint) => findObjects(db, listing, checkpoint)),
  }
}
