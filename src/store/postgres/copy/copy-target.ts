/** PostgreSQL as the target of a copy: its empty tables are filled in one transaction. */
import { once } from 'node:events'
import { type Client, Query } from 'pg'
import {
  COPIED_TABLES,
  type CopiedRow,
  type CopiedTable,
  type CopiedTables,
  CopyError,
  type CopyTarget,
} from '../../api/copy.ts'
import { createOwnConnection, type Statements, statementsOf } from '../db/client.ts'
import { toRows } from '../db/dialect.sql.ts'
import { migrate } from '../db/migrate.ts'
import { describe } from '../db/store-error.ts'
import * as SQL from './copy-target.sql.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/** @throws MigrationError, CopyError */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  await migrate(url)
  const client = createOwnConnection(url)
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => undefined)
    throw toCopyError(error)
  }
  return { fill: (run) => fill(client, run), close: () => client.end() }
}

async function fill<T>(client: Client, run: (tables: CopiedTables) => Promise<T>): Promise<T> {
  const db = statementsOf(client)
  try {
    await client.query('BEGIN')
    await lockEmpty(db)
    await db.run(SQL.DROP_REFERENCES)
    const result = await run(tablesOf(client))
    await db.run(SQL.ADD_REFERENCES)
    const numbered = await db.all<{ name: string; column: string }>(SQL.LIST_NUMBERED)
    for (const { name, column } of numbered) await db.run(SQL.setNextNumber(name, column))
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw toCopyError(error)
  }
}

/** @throws CopyError when a table has rows */
async function lockEmpty(db: Statements): Promise<void> {
  await db.run(SQL.BOUND_LOCK_WAIT)
  await db.run(SQL.lockTables(COPIED_TABLES))
  for (const table of COPIED_TABLES) {
    const found = await db.first<{ is_filled: boolean }>(SQL.findAny(table))
    if (!found?.is_filled) continue
    const message = `PostgreSQL holds something already (see its table ${table.name})`
    throw new CopyError(`${message}: name an empty database`)
  }
}

function tablesOf(client: Client): CopiedTables {
  const db = statementsOf(client)
  return {
    async write(table, rows) {
      requireTexts(table, rows)
      const sql = SQL.insertCopies(table, Object.keys(rows[0] ?? {}))
      await db.run(sql, { rows: toRows(rows.map(toWritten)) })
    },
    async readRows(table, columns, take) {
      const query = client.query(new Query<CopiedRow>(SQL.listRows(table, columns)))
      query.on('row', (row) => take(toRead(row)))
      await once(query, 'end')
    },
  }
}

/** @throws CopyError with the position of a text that PostgreSQL cannot store */
function requireTexts({ name, key }: CopiedTable, rows: readonly CopiedRow[]): void {
  for (const row of rows) {
    const broken = Object.entries(row).find(
      ([, value]) => typeof value === 'string' && value.includes('\0'),
    )
    if (broken === undefined) continue
    const place = key.map((column) => `${column} ${JSON.stringify(row[column])}`).join(', ')
    throw new CopyError(
      `${broken[0]} of the row of ${name} with ${place} has U+0000, which PostgreSQL takes in no text`,
    )
  }
}

/** Converts a row to JSON. */
function toWritten(row: CopiedRow): Record<string, unknown> {
  const values = Object.entries(row).map(([column, value]) => [
    column,
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ])
  return Object.fromEntries(values)
}

/** Lists of integers are sent as texts. */
function toRead(row: CopiedRow): CopiedRow {
  const { value_keys } = row
  return Array.isArray(value_keys) ? { ...row, value_keys: value_keys.map(Number) } : row
}

/** Returns the failure in one line, without text of the statement. */
function toCopyError(error: unknown): unknown {
  if (error instanceof Error && ['CopyError', 'MigrationError'].includes(error.name)) return error
  if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) {
    return new CopyError('PostgreSQL is written to by a server or another copy')
  }
  return new CopyError(`WEFT_META_URL: ${describe(error)}`)
}
