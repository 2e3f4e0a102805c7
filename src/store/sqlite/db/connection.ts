/** Opens the SQLite database with the pragmas that Weft relies on. The only place that opens it. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database, { SqliteError } from 'better-sqlite3'
import { runWhole } from '../../../threads/whole-work.ts'
import { addBodyFunctions } from '../calls/body-compression.ts'
import { createPrivateFile } from '../files/private-files.ts'
import { isUnavailable } from './store-error.ts'

export type Connection = Database.Database

/** Name of the database file in the data directory. */
export const DATABASE_FILE = 'weft.db'
/** The files that SQLite opens in the data directory: the database, its log and their index, and the lock. */
const OPENED_FILE = /^weft\.(?:db|lock)/
/** How long a statement waits for another process that writes. */
export const BUSY_TIMEOUT_MS = 5000
/** Bytes of the WAL file that remain when the WAL restarts: overwriting is cheaper than growing the file. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024
/** How long a close waits for readers of the log: the database is intact without it, and a shutdown is bounded. */
const CLOSE_BUSY_TIMEOUT_MS = 500

/** A data directory that cannot be used; the message is one line. */
class DataDirectoryError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'DataDirectoryError'
  }
}

/**
 * Opens the database for reading and writing; creates the directory when it is missing.
 *
 * @param dataDir - a directory, or ':memory:' for a database that ends with the connection
 * @param image - the initial content of a database in memory: the bytes of a database file
 * @throws DataDirectoryError when it cannot be created, opened or written
 */
export function openDatabase(dataDir: string, image: Buffer | null = null): Connection {
  try {
    const path = dataDir === ':memory:' ? dataDir : join(dataDir, DATABASE_FILE)
    if (dataDir !== ':memory:') {
      makeDirectory(dataDir)
      createPrivateFile(path)
    }
    const db = connect(image ?? path)
    // Must come first: a database file keeps the mode it was created with.
    db.pragma('auto_vacuum = INCREMENTAL')
    db.pragma('journal_mode = WAL')
    // FULL: a commit is on the disk before it is acknowledged, and so survives a power failure.
    db.pragma('synchronous = FULL')
    db.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`)
    db.pragma('foreign_keys = ON')
    // Overwrites deleted content on pages that are written anyway; writes that need more set it themselves.
    db.pragma('secure_delete = FAST')
    db.pragma('temp_store = MEMORY')
    db.pragma('cache_size = -32768')
    addBodyFunctions(db)
    prepareWhenUsed(db)
    // A write lock shows now, not at the first call, that the directory is writable.
    db.exec('BEGIN IMMEDIATE; COMMIT')
    return db
  } catch (cause) {
    throw unusableDirectory(dataDir, cause)
  }
}

export function unusableDirectory(dataDir: string, cause: unknown): DataDirectoryError {
  const reason = reasonOf(dataDir, cause)
  return new DataDirectoryError(`cannot use the data directory ${dataDir}: ${reason}`, cause)
}

/** SQLite reports only that it cannot open or write a file; the directory and its files may show which, and why. */
function reasonOf(dataDir: string, cause: unknown): string {
  if (cause instanceof SqliteError && /^SQLITE_(?:CANTOPEN|READONLY)/.test(cause.code)) {
    try {
      accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
      for (const name of readdirSync(dataDir).sort()) {
        if (!OPENED_FILE.test(name)) continue
        accessSync(join(dataDir, name), constants.R_OK | constants.W_OK)
      }
    } catch (fault) {
      return (fault as Error).message
    }
  }
  const { code } = cause as NodeJS.ErrnoException
  // The index of the log cannot grow, which SQLite calls an error of the disk.
  if (code === 'SQLITE_IOERR_SHMSIZE') return 'the disk is full'
  return cause instanceof Error ? cause.message : String(cause)
}

/**
 * Makes a directory with its parents, where they are missing. The own `recursive` of mkdir never returns when the file
 * system tells of a parent that is there that it is missing, as /proc and automatic mounts do.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (existsSync(path) && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeDirectory(dirname(path))
    makeDirectory(path)
  }
}

/** @throws DataDirectoryError when that cannot be determined, for example without the rights to read */
export function hasDatabase(dataDir: string): boolean {
  try {
    return statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw unusableDirectory(dataDir, cause)
  }
}

/** For what must not create one, least of all at a mistyped path. @throws DataDirectoryError when none can be seen */
export function requireDatabase(dataDir: string): void {
  if (hasDatabase(dataDir)) return
  const message = `cannot use the data directory ${dataDir}: it has no ${DATABASE_FILE}`
  throw new DataDirectoryError(message, null)
}

/** Opens an existing database read-only, for worker threads. */
export function openReadOnlyDatabase(path: string): Connection {
  const db = connect(path, { readonly: true, fileMustExist: true })
  db.pragma('temp_store = MEMORY')
  // Smaller than the writer's: there are several readers, and the system caches the pages of the file anyway.
  db.pragma('cache_size = -8192')
  addBodyFunctions(db)
  prepareWhenUsed(db)
  return db
}

/** Opens an existing database for the thread that checkpoints its log. */
export function openCheckpointDatabase(path: string): Connection {
  const db = connect(path, { fileMustExist: true })
  db.pragma('synchronous = NORMAL')
  return db
}

/** The first connection of a thread loads the native library, which must not be interrupted (threads/thread.ts). */
function connect(source: string | Buffer, options: Database.Options = {}): Connection {
  return runWhole(() => new Database(source, { timeout: BUSY_TIMEOUT_MS, ...options }))
}

/** Checkpoints the log and closes. Safe to call twice. */
export function closeDatabase(db: Connection): void {
  if (!db.open) return
  try {
    db.pragma(`busy_timeout = ${CLOSE_BUSY_TIMEOUT_MS}`)
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    // On a full disk. What is committed stays in the log, which the next connection reads.
    if (!isUnavailable(error)) throw error
  } finally {
    db.close()
  }
}

type Statement = Database.Statement<unknown[], unknown>

/** The methods of a statement that the stores use. */
type UsedStatement = Pick<Statement, 'run' | 'get' | 'all' | 'iterate' | 'pluck' | 'raw'>

/** Makes `db.prepare` lazy. An invalid statement fails when it first runs. */
function prepareWhenUsed(db: Database.Database): void {
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => createLazyStatement(() => prepare(sql))) as typeof db.prepare
}

function createLazyStatement(prepare: () => Statement): UsedStatement {
  let prepared: Statement | null = null
  const open = (): Statement => {
    prepared ??= prepare()
    return prepared
  }
  return {
    run: (...bound) => open().run(...bound),
    get: (...bound) => open().get(...bound),
    all: (...bound) => open().all(...bound),
    iterate: (...bound) => open().iterate(...bound),
    pluck: () => createLazyStatement(() => prepare().pluck()) as Statement,
    raw: () => createLazyStatement(() => prepare().raw()) as Statement,
  }
}
