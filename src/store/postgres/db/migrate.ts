/**
 * Applies the numbered files of migrations/postgres that are new, in order and in one transaction with their rows in
 * `weft_migrations`. Forward only; a changed file or a newer database is refused.
 */
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import {
  type AppliedMigration,
  MigrationError,
  type OnMigrate,
  readMigrationFiles,
  requireApplied,
  requireKnown,
} from '../../base/db/migration-files.ts'
import { createOwnConnection, type Statements } from './client.ts'
import * as SQL from './migrations.sql.ts'
import { bindNames } from './named-parameters.ts'
import { describe } from './store-error.ts'

const DIRECTORY = fileURLToPath(new URL('../../../../migrations/postgres/', import.meta.url))

interface MigrateOptions {
  /** Where the files are; tests give their own. */
  readonly directory?: string
  readonly onMigrate?: OnMigrate | undefined
}

/**
 * Brings the tables to this version.
 *
 * @returns how many migrations were applied
 * @throws MigrationError when they are of a newer version, an applied file has changed, or PostgreSQL cannot be asked
 */
export async function migrate(
  url: string,
  { directory = DIRECTORY, onMigrate }: MigrateOptions = {},
): Promise<number> {
  const client = await openOwnConnection(url)
  try {
    await client.query('BEGIN')
    const count = await applyPending(client, directory, onMigrate)
    await client.query('COMMIT')
    return count
  } catch (error) {
    if (error instanceof MigrationError) throw error
    throw new MigrationError(`WEFT_META_URL: ${describe(error)}`)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Opens a connection outside of the pool, which the caller closes. @throws MigrationError */
export async function openOwnConnection(url: string): Promise<Client> {
  const client = createConnection(url)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw new MigrationError(`WEFT_META_URL: ${describe(error)}`)
  }
}

function createConnection(url: string): Client {
  try {
    return createOwnConnection(url)
  } catch (error) {
    if (error instanceof MigrationError) throw error
    // Its message contains the address with the password.
    throw new MigrationError('WEFT_META_URL: the address cannot be understood')
  }
}

/** Checks without changing anything that the tables have this version. @throws MigrationError */
export async function requireMigrated(db: Statements): Promise<void> {
  const applied = await db.all<AppliedMigration>(SQL.SELECT_MIGRATIONS)
  requireApplied(applied, readMigrationFiles(DIRECTORY), 'PostgreSQL')
}

async function applyPending(
  client: Client,
  directory: string,
  onMigrate?: OnMigrate,
): Promise<number> {
  await client.query(SQL.BOUND_LOCK_WAIT)
  await client.query(SQL.LOCK_MIGRATIONS)
  await client.query(SQL.CREATE_MIGRATIONS)
  const migrations = readMigrationFiles(directory)
  const { rows: applied } = await client.query<AppliedMigration>(SQL.SELECT_MIGRATIONS)
  requireKnown(applied, migrations, 'PostgreSQL')
  const pending = migrations.slice(applied.length)
  if (pending.length > 0) onMigrate?.(pending.length)
  for (const { version, name, sql, checksum } of pending) {
    await client.query(sql)
    const row = { version, name, checksum, applied_at_us: Date.now() * 1000 }
    await client.query(bindNames(SQL.INSERT_MIGRATION, row))
  }
  return pending.length
}
