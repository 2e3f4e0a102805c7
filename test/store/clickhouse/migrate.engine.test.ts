import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ClickHouseError } from '@clickhouse/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readMigrationFiles } from '../../../src/store/base/db/migration-files.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import {
  migrate,
  renderStatement,
  splitStatements,
} from '../../../src/store/clickhouse/db/migrate.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/clickhouse/', import.meta.url))

async function connect() {
  const db = connectClickHouse({ url: await makeDatabase(), readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  return db
}

/** The migrations in a folder that a test may change. */
function copyMigrations(): string {
  const folder = makeTempDir()
  for (const name of readdirSync(MIGRATIONS)) cpSync(join(MIGRATIONS, name), join(folder, name))
  return folder
}

describe('statements of the migrations', () => {
  it('one migration text yields statements for one server or replicated ones for a cluster', () => {
    const statements = readMigrationFiles(MIGRATIONS)
      .flatMap(({ sql }) => splitStatements(sql))
      // Replicas get rows from each other.
      .filter((statement) => !statement.startsWith('INSERT INTO'))
    const created = statements.filter((statement) => statement.startsWith('CREATE'))
    expect(created).toHaveLength(16)
    for (const statement of statements) {
      expect(statement).toMatch(
        /^(CREATE TABLE IF NOT EXISTS|ALTER TABLE|TRUNCATE TABLE) \w+\{on_cluster\}(?:[ \n]|$)/,
      )
      expect(renderStatement(statement, null)).not.toMatch(/[{}]/)
      expect(renderStatement(statement, 'all-nodes')).toMatch(
        / \w+ ON CLUSTER 'all-nodes'(?:[ \n]|$)/,
      )
    }
    for (const statement of created) {
      const replicated = renderStatement(statement, 'all-nodes')
      expect(replicated).toMatch(/\nENGINE = Replicated(Replacing|Aggregating)?MergeTree/)
    }
    // Columns of tables that are there can be added once more.
    const altered = statements.filter((statement) => !created.includes(statement))
    for (const line of altered.flatMap((statement) => statement.split('\n').slice(1))) {
      expect(line).toMatch(/^ {2}ADD COLUMN IF NOT EXISTS /)
    }
  })
})

describe.skipIf(!hasClickHouse)('migrations of ClickHouse', () => {
  it('ClickHouse migrations resume after an interruption at any statement, and run once', async () => {
    const db = await connect()
    for (let allowed = 0; ; allowed++) {
      let left = allowed
      const dying = {
        ...db,
        async command(sql: string) {
          if (left === 0) throw Object.assign(new Error('killed'), { code: 'ECONNRESET' })
          left -= 1
          await db.command(sql)
        },
      }
      const result = await migrate(dying, null).catch((error: Error) => error.name)
      if (typeof result === 'number') break
      expect(result).toBe('MigrationError')
    }
    await expect(migrate(db, null)).resolves.toBe(0)
  })

  it('ClickHouse migrations resume after an interruption between the last statement and its record', async () => {
    const db = await connect()
    const count = readMigrationFiles(MIGRATIONS).length
    for (let run = 0; run < count; run++) {
      let left = Math.min(run, 1)
      const insert: typeof db.insert = async (...note) => {
        if (left === 0) throw Object.assign(new Error('killed'), { code: 'ECONNRESET' })
        left -= 1
        await db.insert(...note)
      }
      await expect(migrate({ ...db, insert }, null)).rejects.toThrow('killed')
    }
    await expect(migrate(db, null)).resolves.toBe(1)
    await expect(migrate(db, null)).resolves.toBe(0)
  })

  it('ClickHouse migrations are retried while another process alters a table', async () => {
    const db = await connect()
    let refusals = 1
    const command = async (sql: string) => {
      if (sql.startsWith('ALTER') && refusals-- > 0) {
        throw new ClickHouseError({ message: '', code: '517', type: 'CANNOT_ASSIGN_ALTER' })
      }
      await db.command(sql)
    }
    const count = readMigrationFiles(MIGRATIONS).length
    await expect(migrate({ ...db, command }, null)).resolves.toBe(count)
    expect(refusals).toBeLessThan(0)
  })

  it('ClickHouse migrations refuse a changed file and tables of a newer version', async () => {
    const db = await connect()
    const folder = copyMigrations()
    const [first = ''] = readdirSync(folder)
    await migrate(db, null, folder)
    const next = String(readMigrationFiles(folder).length + 1).padStart(4, '0')
    writeFileSync(join(folder, `${next}-more.sql`), 'SELECT 1;\n')
    await migrate(db, null, folder)
    await expect(migrate(db, null)).rejects.toThrow(
      /newer version of Weft \(it has migration \d{4}-more/,
    )
    writeFileSync(join(folder, first), 'SELECT 2;\n')
    await expect(migrate(db, null, folder)).rejects.toThrow(/was changed/)
  })

  it('migrations fail with one line when ClickHouse is unreachable', async () => {
    const url = 'http://me:secret@127.0.0.1:1/weft'
    const db = connectClickHouse({ url, readTimeoutMs: 1000 })
    onTestFinished(() => db.close())
    await expect(migrate(db, null)).rejects.toThrow(
      /^WEFT_CLICKHOUSE_URL: (?!.*secret).*ECONNREFUSED/,
    )
  })
})
