/** Published objects in SQLite: narrow version rows, contents apart and once per project. */
import type { NewObject } from '../../../domain/objects/object-content.ts'
import { type ObjectVersion, parseVersionName } from '../../../domain/objects/object-view.ts'
import { ApiError } from '../../../errors.ts'
import type { ObjectStore } from '../../api/objects.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import * as SQL from './objects.sql.ts'

export function createObjectStore(
  db: Connection,
  commit: GroupCommit,
  reads: ReadPool,
): ObjectStore {
  const insertValue = db.prepare(SQL.INSERT_JSON_VALUE)
  const insertObject = db.prepare(SQL.INSERT_OBJECT)
  const findValue = db.prepare(SQL.FIND_JSON_VALUE).pluck()
  const findByDigest = db.prepare(SQL.FIND_OBJECT_BY_DIGEST)
  const findByNumber = db.prepare(SQL.FIND_OBJECT_BY_NUMBER)
  const findLatest = db.prepare(SQL.FIND_LATEST_OBJECT)
  const findNewest = db.prepare(SQL.FIND_NEWEST_OBJECT)
  const listLive = db.prepare(SQL.LIST_LIVE_VERSIONS)
  const deleteObject = db.prepare(SQL.DELETE_OBJECT)

  function find(project_id: string, object_id: string, version: string): ObjectVersion | null {
    const name = parseVersionName(version)
    const key = { project_id, object_id }
    const row =
      name.kind === 'latest'
        ? (findLatest.get(key) ?? findNewest.get(key))
        : name.kind === 'number'
          ? findByNumber.get({ ...key, version_index: name.version_index })
          : findByDigest.get({ ...key, digest: name.digest })
    return (row as ObjectVersion | undefined) ?? null
  }

  function write({ val_json, ...object }: NewObject): void {
    const { project_id, digest } = object
    insertValue.run({ project_id, digest, val_json })
    insertObject.run(object)
  }

  /** All names are looked up before the first is deleted, so that `latest` is the latest of before. */
  function chooseVersions(
    project_id: string,
    object_id: string,
    versions: readonly string[] | null,
  ): ObjectVersion[] {
    if (versions === null) {
      const live = listLive.all({ project_id, object_id }) as ObjectVersion[]
      if (live.length === 0) throw new ApiError('object_not_found', { param: 'object_id' })
      return live
    }
    const chosen = new Map<string, ObjectVersion>()
    for (const [at, name] of versions.entries()) {
      const version = find(project_id, object_id, name)
      if (version === null || version.deleted_at_us !== null) {
        throw new ApiError('object_not_found', { param: `digests[${at}]` })
      }
      chosen.set(version.digest, version)
    }
    return [...chosen.values()]
  }

  return {
    createObject: (object) => commit.write(() => write(object)),
    async findObject(project_id, object_id, version) {
      return read(() => find(project_id, object_id, version))
    },
    async findContent(project_id, digest) {
      return read(() => (findValue.get({ project_id, digest }) as string | undefined) ?? null)
    },
    listObjects: (listing, signal) => reads.run('objects', listing, signal),
    deleteObjects: (project_id, object_id, versions, deleted_at_us) =>
      commit.write(() => {
        const chosen = chooseVersions(project_id, object_id, versions)
        for (const { digest } of chosen) {
          deleteObject.run({ project_id, object_id, digest, deleted_at_us })
        }
        return chosen
      }),
  }
}

function read<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw toStoreError(error)
  }
}
