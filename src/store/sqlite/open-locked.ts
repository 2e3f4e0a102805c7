/** The SQLite stores of a process that serves: alone in its data directory, and without what a crash left. */
import { openBackupSocket } from './backup/backup-socket.ts'
import { lockDataDirectory } from './db/directory-lock.ts'
import { openSqliteStore, type SqliteOptions, type SqliteStore } from './open.ts'

/**
 * Opens the stores, migrations included. Nothing in the data directory is read before its lock is held, and the lock
 * is the last thing to go.
 *
 * @throws DirectoryLockedError, DataDirectoryError, MigrationError
 */
export async function openSqliteStores(options: SqliteOptions): Promise<SqliteStore> {
  const lock = lockDataDirectory(options.dataDir)
  try {
    const store = openSqliteStore(options)
    await store.sweep()
    const backups = await openBackupSocket(options.dataDir, store.backup)
    const close = async () => {
      try {
        backups.close()
        await store.close()
      } finally {
        lock.release()
      }
    }
    return { ...store, close }
  } catch (error) {
    lock.release()
    throw error
  }
}
