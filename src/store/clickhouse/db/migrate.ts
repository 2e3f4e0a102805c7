/**
 * Applies the numbered files of migrations/clickhouse that are new, in order. ClickHouse has no transaction around
 * tables: each statement is idempotent, and a file is recorded when all of its statements ran. A process that dies in
 * between, or two that start simultaneously, lead to the same tables.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../../errors.ts'
import {
  type AppliedMigration,
  MigrationError,
  type OnMigrate,
  readMigrationFiles,
  requireApplied,
  requireKnown,
} from '../../base/db/migration-files.ts'
import type { ClickHouse } from './client.ts'
import { CREATE_MIGRATIONS, SELECT_MIGRATIONS } from './migrations.sql.ts'
import { describe, isAlteredConcurrently } from './store-error.ts'

const DIRECTORY = fileURLToPath(new URL('../../../../migrations/clickhouse/', import.meta.url))

/** Attempts of a statement that fails because another process alters the same table, and the waits between them. */
const TRIES_MAX = 10
const RETRY_MS = 500

/**
 * A statement for one server, or for all of a cluster.
 *
 * @param cluster - as ClickHouse's own configuration names it; null: none
 */
export function renderStatement(sql: string, cluster: string | null): string {
  return sql
    .replaceAll('{on_cluster}', cluster === null ? '' : ` ON CLUSTER '${cluster}'`)
    .replaceAll('{replicated}', cluster === null ? '' : 'Replicated')
}

/**
 * Brings the tables to this version.
 *
 * @returns how many migrations were applied
 * @throws MigrationError when they are of a newer version, an applied file has changed, or ClickHouse cannot be asked
 */
export async function migrate(
  db: ClickHouse,
  cluster: string | null,
  directory: string = DIRECTORY,
  onMigrate?: OnMigrate,
): Promise<number> {
  const migrations = readMigrationFiles(directory)
  try {
    await db.command(renderStatement(CREATE_MIGRATIONS, cluster))
    const applied = await db.read<AppliedMigration>(SELECT_MIGRATIONS, {})
    requireKnown(applied, migrations, 'ClickHouse')
    const pending = migrations.filter(
      ({ version }) => !applied.some((row) => row.version === version),
    )
    if (pending.length > 0) onMigrate?.(pending.length)
    for (const { sql, version, name, checksum } of pending) {
      for (const statement of splitStatements(sql)) {
        await run(db, renderStatement(statement, cluster))
      }
      await db.insert('weft_migrations', [{ version, name, checksum }], `${version}-${checksum}`)
    }
    return pending.length
  } catch (error) {
    throw toMigrationError(error)
  }
}

function toMigrationError(error: unknown): MigrationError {
  if (error instanceof MigrationError) return error
  const reason = error instanceof ApiError ? (error.cause as Error).message : describe(error)
  return new MigrationError(`WEFT_CLICKHOUSE_URL: ${reason}`)
}

/** Checks without changing anything that the tables have this version. @throws MigrationError */
export async function requireMigrated(db: ClickHouse): Promise<void> {
  try {
    const applied = await db.read<AppliedMigration>(SELECT_MIGRATIONS, {})
    requireApplied(applied, readMigrationFiles(DIRECTORY), 'ClickHouse')
  } catch (error) {
    throw toMigrationError(error)
  }
}

async function run(db: ClickHouse, statement: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.command(statement)
    } catch (error) {
      if (tries === TRIES_MAX || !isAlteredConcurrently(error)) throw error
      await sleep(RETRY_MS)
    }
  }
}

/** The statements of a migration, each without its semicolon; lines that begin with `--` are left out. */
export function splitStatements(sql: string): string[] {
  const lines = sql.split('\n').filter((line) => !line.startsWith('--'))
  return lines
    .join('\n')
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
