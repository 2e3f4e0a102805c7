/**
 * Applies the numbered files of migrations/sqlite that are new, in order and in one transaction with
 * their rows in `migrations`. Forward only; a changed file or a newer database is refused.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Connection } from './connection.ts'
import {
  CREATE_MIGRATIONS,
  INSERT_MIGRATION,
  SELECT_MIGRATIONS,
  SELECT_SCHEMA,
} from './migrations.sql.ts'

const DIRECTORY = fileURLToPath(new URL('../../../../migrations/sqlite/', import.meta.url))

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

interface MigrationRow {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

/** No directory for temporary files, or no room in it. */
const NO_FILE: readonly unknown[] = ['SQLITE_IOERR_GETTEMPPATH', 'SQLITE_CANTOPEN', 'SQLITE_FULL']

/** A database that this server must not touch; the message is one line. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MigrationError'
  }
}

/** The migrations of this version, in order. @throws MigrationError on a gap or a badly named file */
export function readMigrations(directory: string = DIRECTORY): Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  return files.map((file, index) => {
    const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1])
    if (version !== index + 1) throw new MigrationError(`migration ${file} is out of sequence`)
    const sql = readFileSync(`${directory}/${file}`, 'utf8')
    const checksum = createHash('sha256').update(sql).digest('hex')
    return { version, name: file, sql, checksum }
  })
}

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
    const applied = db.prepare(SELECT_MIGRATIONS).all() as MigrationRow[]
    requireKnown(applied, migrations)
    const pending = migrations.slice(applied.length)
    const insert = db.prepare(INSERT_MIGRATION)
    for (const { version, name, sql, checksum } of pending) {
      db.exec(sql)
      insert.run({ version, name, checksum, applied_at_us: Date.now() * 1000 })
    }
    return pending.length
  })
  return sortInFiles(db, () => withoutForeignKeys(db, () => apply.immediate()))
}

/**
 * Leaves a database as it is, for a command beside the server that owns it.
 *
 * @throws MigrationError when it is not of this version
 */
export function requireMigrated(db: Connection, directory: string = DIRECTORY): void {
  const migrations = readMigrations(directory)
  const isNew = db.prepare(SELECT_SCHEMA).all().length === 0
  const applied = isNew ? [] : (db.prepare(SELECT_MIGRATIONS).all() as MigrationRow[])
  requireKnown(applied, migrations)
  if (applied.length === migrations.length) return
  throw new MigrationError(
    'the database is of an older version of Weft than this command, and the server that uses it still runs; stop it first',
  )
}

/** A table that others refer to can be made anew only so; inside of a transaction it cannot be switched. */
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

function requireKnown(applied: readonly MigrationRow[], migrations: readonly Migration[]): void {
  for (const row of applied) {
    const known = migrations[row.version - 1]
    if (!known) {
      throw new MigrationError(
        `the database is from a newer version of Weft (it has migration ${row.name}); start that version`,
      )
    }
    if (known.checksum !== row.checksum) {
      throw new MigrationError(`migration ${row.name} was changed after it had been applied`)
    }
  }
}

/** The schema as SQL text, in a stable order, for the committed dump. */
export function dumpSchema(db: Connection): string {
  const rows = db.prepare(SELECT_SCHEMA).all() as { sql: string }[]
  return rows.map((row) => `${row.sql};\n`).join('\n')
}
