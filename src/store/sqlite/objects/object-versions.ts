/** Looks up versions of published objects by their names. */
import { type ObjectVersion, parseVersionName } from '../../../domain/objects/object-view.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './objects.sql.ts'

/** @returns the version of a name, deleted or not; null when there is none */
export function createVersionFinder(db: Connection) {
  const findByDigest = db.prepare(SQL.FIND_OBJECT_BY_DIGEST)
  const findByNumber = db.prepare(SQL.FIND_OBJECT_BY_NUMBER)
  const findByAlias = db.prepare(SQL.FIND_OBJECT_BY_ALIAS)
  const findLatest = db.prepare(SQL.FIND_LATEST_OBJECT)
  const findNewest = db.prepare(SQL.FIND_NEWEST_OBJECT)
  return (project_id: string, object_id: string, version: string): ObjectVersion | null => {
    const name = parseVersionName(version)
    const key = { project_id, object_id }
    const row =
      name.kind === 'latest'
        ? (findLatest.get(key) ?? findNewest.get(key))
        : name.kind === 'number'
          ? findByNumber.get({ ...key, version_index: name.version_index })
          : (findByDigest.get({ ...key, digest: name.text }) ??
            findByAlias.get({ ...key, alias: name.text }))
    return (row as ObjectVersion | undefined) ?? null
  }
}
