/** Numbered migration files of a database: their order, their checksums, and which were applied. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

export type AppliedMigration = Omit<Migration, 'sql'>

/**
 * Called before migrations are applied, which can take minutes; not when there are none. Must not throw.
 *
 * @param count - of the migrations
 */
export type OnMigrate = (count: number) => void

/** A database that this server must not use; the message is one line. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MigrationError'
  }
}

/** Reads the migrations of a directory, in order. @throws MigrationError on a gap or a badly named file */
export function readMigrationFiles(directory: string): Migration[] {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
  return files.map((name, index) => {
    const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1])
    if (version !== index + 1) throw new MigrationError(`migration ${name} is out of sequence`)
    const sql = readFileSync(`${directory}/${name}`, 'utf8')
    const checksum = createHash('sha256').update(sql).digest('hex')
    return { version, name, sql, checksum }
  })
}

/**
 * Checks that all applied migrations are among the files.
 *
 * @param database - its name in the message
 * @throws MigrationError when a newer version has migrated the database, or a file has changed since
 */
export function requireKnown(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  database: string,
): void {
  for (const row of applied) {
    const known = migrations[row.version - 1]
    if (!known) {
      throw new MigrationError(
        `${database} is from a newer version of Weft (it has migration ${row.name}); start that version`,
      )
    }
    if (known.checksum !== row.checksum) {
      throw new MigrationError(`migration ${row.name} was changed after it had been applied`)
    }
  }
}

/**
 * Checks that all migrations are applied, for a command beside the servers of a database.
 *
 * @param database - its name in the message
 * @throws MigrationError
 */
export function requireApplied(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  database: string,
): void {
  requireKnown(applied, migrations, database)
  if (applied.length >= migrations.length) return
  throw new MigrationError(
    `${database} belongs to an older version of Weft; start a server of this version on it first`,
  )
}
