/** Opens the SQLite stores for a server: locks the data directory and removes what a crash left. */
import { openBackupSocket } from './backup/backup-socket.ts'
import { lockDataDirectory } from './db/directory-lock.ts'
import { openSqliteStore, type SqliteOptions, type SqliteStore } from './open.ts'

/**
 * Opens the stores and applies migrations. The lock is taken before anything in the data directory is read, and
 * released last.
 *
 * @throws DirectoryLockedError, DataDirectoryError, MigrationError
 */
export async function openSqliteStores(options: SqliteOptions): Promise<SqliteStore> {
  const lock = lockDataDirectory(options.dataDir)
  let store: SqliteStore | null = null
  const closeStore = async () => {
    try {
      await store?.close()
    } finally {
      lock.release()
    }
  }
  try {
    store = openSqliteStore(options)
    await store.sweep()
    const backups = await openBackupSocket(options.dataDir, store.backup)
    const close = async () => {
      try {
        backups.close()
      } finally {
        await closeStore()
      }
    }
    return { ...store, backupFault: () => backups.fault, close }
  } catch (error) {
    await closeStore()
    throw error
  }
}
