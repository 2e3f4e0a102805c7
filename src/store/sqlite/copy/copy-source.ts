/** A data directory as the source of a copy: locked, and changed by nothing but migrations. */
import { join } from 'node:path'
import type { CopiedRow, CopySource } from '../../api/copy.ts'
import {
  closeDatabase,
  DATABASE_FILE,
  openDatabase,
  openReadOnlyDatabase,
  requireDatabase,
} from '../db/connection.ts'
import { lockDataDirectory } from '../db/directory-lock.ts'
import { migrate } from '../db/migrate.ts'
import { fromBlock } from '../objects/table-blocks.ts'
import { listCopiedFiles } from './copied-files.ts'
import * as SQL from './copy-source.sql.ts'

/**
 * @param chunkBytes - the size of the chunks in which files are read
 * @throws DirectoryLockedError, DataDirectoryError, MigrationError
 */
export function openSqliteSource(dataDir: string, chunkBytes: number): CopySource {
  requireDatabase(dataDir)
  const lock = lockDataDirectory(dataDir)
  try {
    bringToVersion(dataDir)
    return openLocked(dataDir, chunkBytes, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

function bringToVersion(dataDir: string): void {
  const db = openDatabase(dataDir)
  try {
    migrate(db)
  } finally {
    closeDatabase(db)
  }
}

function openLocked(dataDir: string, chunkBytes: number, release: () => void): CopySource {
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  const { lists, missing } = listCopiedFiles(db, { dataDir, chunkBytes })
  return {
    missing,
    countRows(table) {
      return lists[table.name]?.count ?? (db.prepare(SQL.countRows(table)).pluck().get() as number)
    },
    async *rows(table) {
      const list = lists[table.name]
      if (list !== undefined) return yield* list.rows()
      for (const row of db.prepare(SQL.listRows(table)).iterate()) yield toCopied(row as CopiedRow)
    },
    close() {
      db.close()
      release()
    },
  }
}

/** Keys of contents are copied as numbers, not in the block form of SQLite. */
function toCopied(row: CopiedRow): CopiedRow {
  const { value_keys } = row
  return Buffer.isBuffer(value_keys) ? { ...row, value_keys: fromBlock(value_keys) } : row
}
