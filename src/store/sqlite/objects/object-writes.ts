/** The writes of objects, tables and files. */
import type { NewObject } from '../../../domain/objects/object-content.ts'
import type { ObjectVersion } from '../../../domain/objects/object-view.ts'
import { ApiError } from '../../../errors.ts'
import type { NewRow, StoredTable } from '../../api/objects/tables.ts'
import { INSERT_OBJECT } from '../../base/objects/objects.sql.ts'
import { INSERT_TABLE_BLOCK } from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'
import { INSERT_FILE } from './files.sql.ts'
import { createVersionFinder } from './object-versions.ts'
import * as SQL from './objects.sql.ts'
import { INSERT_TABLE } from './tables.sql.ts'

interface ObjectDeletion {
  readonly project_id: string
  readonly object_id: string
  /** Names of versions; null: all that are not deleted. */
  readonly versions: readonly string[] | null
  readonly deleted_at_us: number
}

interface NewRows {
  readonly project_id: string
  readonly rows: readonly NewRow[]
}

interface NewTable extends Omit<StoredTable, 'table_key'> {
  /** From toBlock, in order. */
  readonly blocks: readonly Uint8Array[]
}

/** A row of `files`. */
interface NewFile {
  readonly project_id: string
  readonly digest: string
  readonly size_bytes: number
  readonly content: Uint8Array | null
  readonly path: string | null
}

export function createObjectWrites(db: Connection) {
  const insertValue = db.prepare(SQL.INSERT_JSON_VALUE)
  const insertObject = db.prepare(INSERT_OBJECT)
  const deleteObject = db.prepare(SQL.DELETE_OBJECT)
  const insertTable = db.prepare(INSERT_TABLE)
  const insertBlock = db.prepare(INSERT_TABLE_BLOCK)
  const insertFile = db.prepare(INSERT_FILE)
  const chooseVersions = createVersionChoice(db)
  return {
    create_object({ val_json, ...object }: NewObject): void {
      const { project_id, digest } = object
      insertValue.run({ project_id, digest, val_json })
      insertObject.run(object)
    },
    /** Returns the deleted versions as they were before. */
    delete_objects(deletion: ObjectDeletion): ObjectVersion[] {
      const { project_id, object_id, deleted_at_us } = deletion
      const chosen = chooseVersions(deletion)
      for (const { digest } of chosen) {
        deleteObject.run({ project_id, object_id, digest, deleted_at_us })
      }
      return chosen
    },
    insert_rows({ project_id, rows }: NewRows): void {
      for (const row of rows) insertValue.run({ project_id, ...row })
    },
    create_table({ blocks, ...table }: NewTable): void {
      const inserted = insertTable.run(table)
      if (inserted.changes === 0) return
      const table_key = inserted.lastInsertRowid
      for (const [block, value_keys] of blocks.entries()) {
        insertBlock.run({ table_key, block, value_keys })
      }
    },
    insert_file: (file: NewFile): void => void insertFile.run(file),
  }
}

/** Resolves all names before the first deletion, so that `latest` does not shift. */
function createVersionChoice(db: Connection) {
  const find = createVersionFinder(db)
  const listLive = db.prepare(SQL.LIST_LIVE_VERSIONS)
  return ({ project_id, object_id, versions }: ObjectDeletion): ObjectVersion[] => {
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
}
