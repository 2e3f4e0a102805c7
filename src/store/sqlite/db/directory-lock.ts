/**
 * Lets only one process use a data directory. The lock belongs to the operating system, so it ends with the process
 * that holds it, however that ends. It is an exclusive transaction on an empty database of its own, because Node
 * has no file locks and SQLite has them on every system.
 *
 * Nothing else in this process may open the file `weft.lock`: POSIX releases all locks of a process on a file when
 * the process closes any handle of that file. The process id is therefore in a file beside it.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createPrivateFile, restrictOwnFiles } from '../files/private-files.ts'
import { makeDirectory, unusableDirectory } from './connection.ts'
import { isLocked } from './store-error.ts'

/** The file that is locked. */
export const LOCK_FILE = 'weft.lock'
/** Names the process that holds the lock, for people; meaningless when the lock is free. */
const PID_FILE = 'weft.pid'

/** Another process uses the data directory; the message is one line. */
class DirectoryLockedError extends Error {
  constructor(dataDir: string, pid: number | null) {
    const who = pid === null ? 'another process' : `the process ${pid}`
    super(`the data directory ${dataDir} is in use by ${who}`)
    this.name = 'DirectoryLockedError'
  }
}

interface DirectoryLock {
  /** Idempotent. Keep the lock reachable until then: a garbage-collected connection closes and releases the lock. */
  release(): void
}

/**
 * Locks a data directory, which is created when it is missing. Call it before anything in the directory is read.
 *
 * @param dataDir - a directory, or ':memory:', which no other process can use
 * @throws DirectoryLockedError when another process holds the lock; nothing was changed then
 * @throws DataDirectoryError when the directory cannot be used
 */
export function lockDataDirectory(dataDir: string): DirectoryLock {
  if (dataDir === ':memory:') return { release: () => undefined }
  const db = openLocked(dataDir)
  const pidFile = join(dataDir, PID_FILE)
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // A full disk must not prevent a start: the process id is only for people.
  }
  return {
    release() {
      if (!db.open) return
      // After a move of the directory, the path may lead to that of another process.
      if (readPid(dataDir) === process.pid) rmSync(pidFile, { force: true })
      db.close()
    },
  }
}

function openLocked(dataDir: string): Database.Database {
  let db: Database.Database | null = null
  try {
    makeDirectory(dataDir)
    const path = join(dataDir, LOCK_FILE)
    createPrivateFile(path)
    db = new Database(path, { timeout: 0 })
    // Otherwise the transaction leaves a journal beside the file when the process is killed.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    restrictOwnFiles(dataDir)
    return db
  } catch (error) {
    db?.close()
    if (isLocked(error)) throw new DirectoryLockedError(dataDir, readPid(dataDir))
    throw unusableDirectory(dataDir, error)
  }
}

/** Locks the directory; returns null when another process holds the lock. @throws DataDirectoryError */
export function tryLockDataDirectory(dataDir: string): DirectoryLock | null {
  try {
    return lockDataDirectory(dataDir)
  } catch (error) {
    if (error instanceof DirectoryLockedError) return null
    throw error
  }
}

function readPid(dataDir: string): number | null {
  try {
    return Number.parseInt(readFileSync(join(dataDir, PID_FILE), 'utf8'), 10) || null
  } catch {
    return null
  }
}

/** Returns the id of the process that holds the lock; null when none does. Changes nothing. */
export function readOwner(dataDir: string): number | null {
  if (!existsSync(join(dataDir, LOCK_FILE))) return null
  const db = new Database(join(dataDir, LOCK_FILE), { readonly: true, timeout: 0 })
  try {
    db.pragma('schema_version')
    return null
  } catch (error) {
    if (isLocked(error)) return readPid(dataDir)
    throw unusableDirectory(dataDir, error)
  } finally {
    db.close()
  }
}
