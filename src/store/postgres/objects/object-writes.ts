/** The writes of objects: each is a transaction that locks the object. */
import { requireObject } from '../../../domain/objects/object-view.ts'
import { ApiError } from '../../../errors.ts'
import type { ObjectMarks, ObjectStore } from '../../api/objects/objects.ts'
import { requireFewMarks } from '../../base/objects/object-limits.ts'
import { INSERT_OBJECT } from '../../base/objects/objects.sql.ts'
import type { Postgres, Statements } from '../db/client.ts'
import * as MARKS from './marks.sql.ts'
import { findVersion, type KeyedVersion, toKeyed, type VersionRow } from './object-versions.ts'
import * as SQL from './objects.sql.ts'

type Counted = { readonly count: number }
type ObjectName = { readonly project_id: string; readonly object_id: string }
type Writes = Pick<
  ObjectStore,
  'createObject' | 'addTags' | 'removeTags' | 'setAliases' | 'removeAliases' | 'deleteObjects'
>

export function createObjectWrites(db: Postgres): Writes {
  const change = <T>({ project_id, object_id }: ObjectName, run: (tx: Statements) => Promise<T>) =>
    db.transaction(async (tx) => {
      await tx.all(SQL.LOCK_OBJECT, { project_id, object_id })
      return run(tx)
    })

  return {
    createObject: ({ val_json, ...object }) =>
      change(object, async (tx) => {
        const { project_id, digest } = object
        await tx.run(SQL.INSERT_JSON_VALUES, { project_id, digests: [digest], texts: [val_json] })
        await tx.run(INSERT_OBJECT, { ...object })
      }),
    addTags: (marks) =>
      change(marks, async (tx) => {
        const object_key = await requireKey(tx, marks)
        await tx.run(MARKS.INSERT_TAGS, { object_key, names: marks.names })
        const counted = await tx.first<Counted>(MARKS.COUNT_TAGS, { object_key })
        requireFewMarks(counted?.count ?? 0, 'tags')
      }),
    removeTags: (marks) =>
      change(marks, async (tx) => {
        const object_key = await requireKey(tx, marks)
        await tx.run(MARKS.DELETE_TAGS, { object_key, names: marks.names })
      }),
    setAliases: (marks) =>
      change(marks, async (tx) => {
        const { project_id, object_id, names } = marks
        const object_key = await requireKey(tx, marks)
        await tx.run(MARKS.SET_ALIASES, { project_id, object_id, names, object_key })
        const counted = await tx.first<Counted>(MARKS.COUNT_ALIASES, { project_id, object_id })
        requireFewMarks(counted?.count ?? 0, 'aliases')
      }),
    removeAliases: (removal) =>
      change(removal, async (tx) => void (await tx.run(MARKS.DELETE_ALIASES, { ...removal }))),
    deleteObjects: (project_id, object_id, versions, deleted_at_us) =>
      change({ project_id, object_id }, async (tx) => {
        const chosen = await chooseVersions(tx, { project_id, object_id }, versions)
        const object_keys = chosen.map(({ object_key }) => object_key)
        await tx.run(SQL.DELETE_OBJECTS, { object_keys, deleted_at_us })
        return chosen.map(({ version }) => version)
      }),
  }
}

/** Looks up all names before the first deletion, so that `latest` means the latest version before it. */
async function chooseVersions(
  tx: Statements,
  name: ObjectName,
  versions: readonly string[] | null,
): Promise<KeyedVersion[]> {
  if (versions === null) {
    const live = await tx.all<VersionRow>(SQL.LIST_LIVE_VERSIONS, name)
    if (live.length === 0) throw new ApiError('object_not_found', { param: 'object_id' })
    return live.map(toKeyed)
  }
  const chosen = new Map<number, KeyedVersion>()
  for (const [at, text] of versions.entries()) {
    const found = await findVersion(tx, name.project_id, name.object_id, text)
    if (found === null || found.version.deleted_at_us !== null) {
      throw new ApiError('object_not_found', { param: `digests[${at}]` })
    }
    chosen.set(found.object_key, found)
  }
  return [...chosen.values()]
}

async function requireKey(tx: Statements, marks: ObjectMarks): Promise<number> {
  const found = await findVersion(tx, marks.project_id, marks.object_id, marks.version)
  requireObject(found?.version ?? null)
  return found?.object_key as number
}
