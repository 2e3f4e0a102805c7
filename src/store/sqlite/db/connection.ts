/** Opens the SQLite database with the pragmas that Weft relies on. The only place that opens it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { addBodyFunctions } from '../calls/body-compression.ts'
import { prepareWhenUsed } from './lazy-statements.ts'

export type Connection = Database.Database

/** Name of the database file in the data directory. */
export const DATABASE_FILE = 'weft.db'
/** How long a statement waits for another process that writes. */
export const BUSY_TIMEOUT_MS = 5000
/** What stays of the log's file when it begins anew: to write over bytes is cheaper than to add them. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024
/** How long the end waits for others to leave the log: it is whole without, and a shutdown has a limit. */
const CLOSE_BUSY_TIMEOUT_MS = 500

/** A data directory that cannot be used; the message is one line. */
export class DataDirectoryError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'DataDirectoryError'
  }
}

/**
 * Opens the database for reading and writing; makes the directory when it is missing.
 *
 * @param dataDir - a directory, or ':memory:' for a database that ends with the connection
 * @param image - what a database in memory begins with: the bytes of a file
 * @throws DataDirectoryError when it cannot be made, opened or written
 */
export function openDatabase(dataDir: string, image: Buffer | null = null): Connection {
  try {
    if (dataDir !== ':memory:') mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const path = dataDir === ':memory:' ? dataDir : join(dataDir, DATABASE_FILE)
    const db = new Database(image ?? path, { timeout: BUSY_TIMEOUT_MS })
    // Before anything else: a file keeps the mode that it was made with.
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    // FULL: a commit is on the disk before it is acknowledged, power loss included.
    db.pragma('synchronous = FULL')
    db.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`)
    db.pragma('foreign_keys = ON')
    // What is deleted is overwritten where its page is written anyway; where more is wanted, the write says so.
    db.pragma('secure_delete = FAST')
    db.pragma('temp_store = MEMORY')
    db.pragma('cache_size = -32768')
    addBodyFunctions(db)
    prepareWhenUsed(db)
    // A write that proves the directory writable now and not at the first call.
    db.exec('BEGIN IMMEDIATE; COMMIT')
    return db
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DataDirectoryError(`cannot use the data directory ${dataDir}: ${reason}`, cause)
  }
}

/** Opens the same database for reading only, for worker threads. */
export function openReadOnlyDatabase(path: string): Connection {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  db.pragma('temp_store = MEMORY')
  // Less than the writer's: there are several readers, and the system keeps the file's pages anyway.
  db.pragma('cache_size = -8192')
  addBodyFunctions(db)
  prepareWhenUsed(db)
  return db
}

/** Opens the same database for the thread that moves the log into it. */
export function openCheckpointDatabase(path: string): Connection {
  const db = new Database(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  db.pragma('synchronous = NORMAL')
  return db
}

/** Checkpoints the log and closes. Safe to call twice. */
export function closeDatabase(db: Connection): void {
  if (!db.open) return
  try {
    db.pragma(`busy_timeout = ${CLOSE_BUSY_TIMEOUT_MS}`)
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}
