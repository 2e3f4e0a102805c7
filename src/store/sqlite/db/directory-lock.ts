/**
 * One process on a data directory. The lock belongs to the operating system, so it ends with the process that holds
 * it, however that ends. It is an exclusive transaction on an empty database of its own, because Node has no
 * lock on files and SQLite has one on every system.
 *
 * The file `weft.lock` must never be opened by anything else in this process: POSIX gives up all locks of a process on a
 * file when it closes any handle of it. The process id therefore lies in a file beside it.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DataDirectoryError } from './connection.ts'
import { isLocked } from './store-error.ts'

/** The file that the lock lies on. */
export const LOCK_FILE = 'weft.lock'
/** Tells people who holds the lock; without the lock it says nothing. */
const PID_FILE = 'weft.pid'

/** Another process works on the data directory; the message is one line. */
class DirectoryLockedError extends Error {
  constructor(dataDir: string, pid: number | null) {
    const who = pid === null ? 'another process' : `the process ${pid}`
    super(`the data directory ${dataDir} is in use by ${who}`)
    this.name = 'DirectoryLockedError'
  }
}

interface DirectoryLock {
  /** Idempotent. Must be kept reachable until it is called: a collected connection closes, and with it the lock. */
  release(): void
}

/**
 * Takes the lock of a data directory, which is made when it is missing. To be called before anything in it is read.
 *
 * @param dataDir - a directory, or ':memory:', which nobody else can use
 * @throws DirectoryLockedError when another process has it; then nothing was touched
 * @throws DataDirectoryError when it cannot be used
 */
export function lockDataDirectory(dataDir: string): DirectoryLock {
  if (dataDir === ':memory:') return { release: () => undefined }
  const db = openLocked(dataDir)
  const pidFile = join(dataDir, PID_FILE)
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // A full disk must not stop a start: who holds the lock is only told to people.
  }
  return {
    release() {
      if (!db.open) return
      rmSync(pidFile, { force: true })
      db.close()
    },
  }
}

function openLocked(dataDir: string): Database.Database {
  let db: Database.Database | null = null
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    db = new Database(join(dataDir, LOCK_FILE), { timeout: 0 })
    // Else the transaction would leave a journal beside the file when the process is killed.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db?.close()
    if (isLocked(error)) throw new DirectoryLockedError(dataDir, readPid(dataDir))
    const reason = error instanceof Error ? error.message : String(error)
    throw new DataDirectoryError(`cannot use the data directory ${dataDir}: ${reason}`, error)
  }
}

/** Takes the lock when it is free; null when another process has it. @throws DataDirectoryError */
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
