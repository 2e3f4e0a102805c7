/** Opens the SQLite stores over one connection. */
import type { CallStore } from '../api/calls.ts'
import type { KeyStore } from '../api/keys.ts'
import { createCallStore } from './calls.ts'
import { closeDatabase, openDatabase } from './connection.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeyStore } from './keys.ts'
import { migrate } from './migrate.ts'

export interface SqliteOptions {
  /** A directory, or ':memory:'. */
  readonly dataDir: string
  readonly bootstrapKey: string | null
  /** Writes that may wait for a commit. */
  readonly ingestQueueMax: number
}

export interface SqliteStore {
  readonly keys: KeyStore
  readonly calls: CallStore
  isReady(): boolean
  close(): void
}

/** @throws DataDirectoryError, MigrationError */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const db = openDatabase(options.dataDir)
  try {
    migrate(db)
  } catch (error) {
    db.close()
    throw error
  }
  const commit = createGroupCommit(db, options.ingestQueueMax)
  return {
    keys: createKeyStore(db, options.bootstrapKey),
    calls: createCallStore(db, commit),
    isReady: () => db.open,
    close() {
      commit.close()
      closeDatabase(db)
    },
  }
}
