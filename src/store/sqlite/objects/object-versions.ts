/** Finds versions of published objects by name. */
import { type ObjectVersion, parseVersionName } from '../../../domain/objects/object-view.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './objects.sql.ts'

/** @returns a function that finds the version of a name, deleted or not; null when there is none */
export function createVersionFinder(db: Connection) {
  return createFinder<ObjectVersion>(db, SQL.FIND_VERSIONS)
}

/** The digest of a version's content. */
type VersionPlace = Pick<ObjectVersion, 'digest' | 'deleted_at_us'>

/** The same for callers that only read the content. */
export function createPlaceFinder(db: Connection) {
  return createFinder<VersionPlace>(db, SQL.FIND_PLACES)
}

function createFinder<Row>(db: Connection, statements: SQL.VersionStatements) {
  const findByDigest = db.prepare(statements.byDigest)
  const findByNumber = db.prepare(statements.byNumber)
  const findByAlias = db.prepare(statements.byAlias)
  const findLatest = db.prepare(statements.latest)
  const findNewest = db.prepare(statements.newest)
  return (project_id: string, object_id: string, version: string): Row | null => {
    const name = parseVersionName(version)
    const key = { project_id, object_id }
    const row =
      name.kind === 'latest'
        ? (findLatest.get(key) ?? findNewest.get(key))
        : name.kind === 'number'
          ? findByNumber.get({ ...key, version_index: name.version_index })
          : (findByDigest.get({ ...key, digest: name.text }) ??
            findByAlias.get({ ...key, alias: name.text }))
    return (row as Row | undefined) ?? null
  }
}
