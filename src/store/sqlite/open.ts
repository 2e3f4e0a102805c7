/** Opens the SQLite stores over one connection. */
import { join } from 'node:path'
import type { CallStore } from '../api/calls.ts'
import type { KeyStore } from '../api/keys.ts'
import { createCallStore } from './calls.ts'
import { closeDatabase, DATABASE_FILE, openDatabase } from './connection.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { READ_JOBS } from './read-jobs.ts'
import { createInlineReadPool, createReadPool, type ReadPool } from './read-pool.ts'

export interface SqliteOptions {
  /** A directory, or ':memory:'. */
  readonly dataDir: string
  readonly bootstrapKey: string | null
  /** Writes that may wait for a commit. */
  readonly ingestQueueMax: number
  /** Limits of the heavy reads. */
  readonly reads?: ReadLimits
}

export interface ReadLimits {
  readonly threads: number
  readonly queueMax: number
  readonly timeoutMs: number
}

const READ_LIMITS: ReadLimits = { threads: 1, queueMax: 16, timeoutMs: 60_000 }

export interface SqliteStore {
  readonly keys: KeyStore
  readonly calls: CallStore
  /** Heavy reads; to be closed before the store. */
  readonly reads: ReadPool
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
  const reads =
    options.dataDir === ':memory:'
      ? createInlineReadPool(db, READ_JOBS)
      : createReadPool({
          path: join(options.dataDir, DATABASE_FILE),
          ...(options.reads ?? READ_LIMITS),
        })
  const commit = createGroupCommit(db, options.ingestQueueMax)
  return {
    keys: createKeyStore(db, options.bootstrapKey),
    calls: createCallStore(db, commit),
    reads,
    isReady: () => db.open,
    close() {
      commit.close()
      closeDatabase(db)
    },
  }
}
