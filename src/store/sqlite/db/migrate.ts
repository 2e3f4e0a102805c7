/**
 * Applies the new files of migrations/sqlite, in order and in one transaction with their rows in `migrations`.
 * Forward only; refuses a changed file or a newer database.
 */
import { fileURLToPath } from 'node:url'
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  type OnMigrate,
  readMigrationFiles,
  requireKnown,
} from '../../base/db/migration-files.ts'
import type { Connection } from './connection.ts'
import {
  CREATE_MIGRATIONS,
  INSERT_MIGRATION,
  SELECT_FOREIGN_TABLES,
  SELECT_MIGRATIONS,
  SELECT_SCHEMA,
} from './migrations.sql.ts'

const DIRECTORY = fileURLToPath(new URL('../../../../migrations/sqlite/', import.meta.url))

/** The name of the database in error messages. */
const DATABASE = 'the database'
/** No directory for temporary files, or no space in it. */
const NO_FILE: readonly unknown[] = ['SQLITE_IOERR_GETTEMPPATH', 'SQLITE_CANTOPEN', 'SQLITE_FULL']

/** Reads the migrations of this version, in order. @throws MigrationError on a gap or a badly named file */
export const readMigrations = (directory: string = DIRECTORY): Migration[] =>
  readMigrationFiles(directory)

/**
 * Migrates a database to this version. Only for the process that holds the lock of its directory.
 *
 * @returns the number of migrations applied
 * @throws MigrationError when the database is newer or of another program, or an applied file has changed
 */
export function migrate(
  db: Connection,
  directory: string = DIRECTORY,
  onMigrate?: OnMigrate,
): number {
  const migrations = readMigrations(directory)
  requireOwn(db)
  db.exec(CREATE_MIGRATIONS)
  const apply = db.transaction(() => {
    const applied = db.prepare(SELECT_MIGRATIONS).all() as AppliedMigration[]
    requireKnown(applied, migrations, DATABASE)
    const pending = migrations.slice(applied.length)
    if (pending.length > 0) onMigrate?.(pending.length)
    const insert = db.prepare(INSERT_MIGRATION)
    for (const { version, name, sql, checksum } of pending) {
      db.exec(sql)
      insert.run({ version, name, checksum, applied_at_us: Date.now() * 1000 })
    }
    return pending.length
  })
  const count = sortInFiles(db, () => withoutForeignKeys(db, () => apply.immediate()))
  // Otherwise the first reads would find the log at its limit, and long ones would be refused.
  if (count > 0) db.pragma('wal_checkpoint(TRUNCATE)')
  return count
}

/**
 * Checks without changing anything that a database has this version, for a command beside the server that owns it.
 *
 * @throws MigrationError when it has another version or is of another program
 */
export function requireMigrated(db: Connection): void {
  if (countPending(db) === 0) return
  throw new MigrationError(
    'the database belongs to an older version of Weft whose server is still running; stop it first',
  )
}

/**
 * Returns the number of migrations that a start would apply, without changing anything.
 *
 * @throws MigrationError when the database is newer or of another program, or an applied file has changed
 */
export function countPending(db: Connection): number {
  const migrations = readMigrations()
  requireOwn(db)
  const isNew = db.prepare(SELECT_SCHEMA).all().length === 0
  const applied = isNew ? [] : (db.prepare(SELECT_MIGRATIONS).all() as AppliedMigration[])
  requireKnown(applied, migrations, DATABASE)
  return migrations.length - applied.length
}

/** Writes nothing to a database of another program. @throws MigrationError */
function requireOwn(db: Connection): void {
  const [foreign] = db.prepare(SELECT_FOREIGN_TABLES).pluck().all()
  if (foreign === undefined) return
  const has = `it has a table ${JSON.stringify(foreign)} and no migrations`
  throw new MigrationError(`${DATABASE} is not one of Weft: ${has} (${db.name})`)
}

/**
 * Runs with foreign keys off: only then can a table that others refer to be rebuilt, and a transaction cannot
 * switch them itself.
 */
function withoutForeignKeys<Result>(db: Connection, run: () => Result): Result {
  const before = db.pragma('foreign_keys', { simple: true })
  db.pragma('foreign_keys = OFF')
  try {
    return run()
  } finally {
    db.pragma(`foreign_keys = ${before}`)
  }
}

/**
 * Runs with temporary files: in memory, sorting an index over millions of rows takes hundreds of megabytes,
 * which the process then keeps. Sorts in memory only when no temporary file can be written.
 */
function sortInFiles<Result>(db: Connection, run: () => Result): Result {
  const before = db.pragma('temp_store', { simple: true })
  db.pragma('temp_store = FILE')
  try {
    return run()
  } catch (error) {
    if (!NO_FILE.includes((error as { code?: unknown }).code)) throw error
    db.pragma('temp_store = MEMORY')
    return run()
  } finally {
    db.pragma(`temp_store = ${before}`)
  }
}

/** Returns the schema as SQL text, in a stable order, for the committed dump. */
export function dumpSchema(db: Connection): string {
  const rows = db.prepare(SELECT_SCHEMA).all() as { sql: string }[]
  return rows.map((row) => `${row.sql};\n`).join('\n')
}
