/**
 * Applies the numbered files of migrations/sqlite that are new, in order and in one transaction with
 * their rows in `migrations`. Forward only; a changed file or a newer database is refused.
 */
import { fileURLToPath } from 'node:url'
import type { Connection } from './connection.ts'
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  readMigrationFiles,
  requireKnown,
} from './migration-files.ts'
import {
  CREATE_MIGRATIONS,
  INSERT_MIGRATION,
  SELECT_MIGRATIONS,
  SELECT_SCHEMA,
} from './migrations.sql.ts'

const DIRECTORY = fileURLToPath(new URL('../../../../migrations/sqlite/', import.meta.url))

/** What it is called where it cannot be used. */
const DATABASE = 'the database'
/** No directory for temporary files, or no room in it. */
const NO_FILE: readonly unknown[] = ['SQLITE_IOERR_GETTEMPPATH', 'SQLITE_CANTOPEN', 'SQLITE_FULL']

/** The migrations of this version, in order. @throws MigrationError on a gap or a badly named file */
export const readMigrations = (directory: string = DIRECTORY): Migration[] =>
  readMigrationFiles(directory)

/**
 * Brings a database to this version. Only for the process that holds the lock of its directory.
 *
 * @returns how many migrations were applied
 * @throws MigrationError when the database is newer or an applied file has changed
 */
export function migrate(db: Connection, directory: string = DIRECTORY): number {
  const migrations = readMigrations(directory)
  db.exec(CREATE_MIGRATIONS)
  const apply = db.transaction(() => {
    const applied = db.prepare(SELECT_MIGRATIONS).all() as AppliedMigration[]
    requireKnown(applied, migrations, DATABASE)
    const pending = migrations.slice(applied.length)
    const insert = db.prepare(INSERT_MIGRATION)
    for (const { version, name, sql, checksum } of pending) {
      db.exec(sql)
      insert.run({ version, name, checksum, applied_at_us: Date.now() * 1000 })
    }
    return pending.length
  })
  const count = sortInFiles(db, () => withoutForeignKeys(db, () => apply.immediate()))
  // Else the first reads would meet a log that is full, and long ones be refused.
  if (count > 0) db.pragma('wal_checkpoint(TRUNCATE)')
  return count
}

/**
 * Leaves a database as it is, for a command beside the server that owns it.
 *
 * @throws MigrationError when it is not of this version
 */
export function requireMigrated(db: Connection, directory: string = DIRECTORY): void {
  const migrations = readMigrations(directory)
  const isNew = db.prepare(SELECT_SCHEMA).all().length === 0
  const applied = isNew ? [] : (db.prepare(SELECT_MIGRATIONS).all() as AppliedMigration[])
  requireKnown(applied, migrations, DATABASE)
  if (applied.length === migrations.length) return
  throw new MigrationError(
    'the database is of an older version of Weft than this command, and the server that uses it still runs; stop it first',
  )
}

/** A table that others refer to can be made anew only so; inside a transaction it cannot be switched. */
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
 * In memory the sort of an index over millions of rows takes hundreds of megabytes, which the process then keeps.
 * It is done there only where no file can take it.
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

/** The schema as SQL text, in a stable order, for the committed dump. */
export function dumpSchema(db: Connection): string {
  const rows = db.prepare(SELECT_SCHEMA).all() as { sql: string }[]
  return rows.map((row) => `${row.sql};\n`).join('\n')
}
