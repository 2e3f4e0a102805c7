/** PostgreSQL as the target of a copy: written beside the tables of servers, which the copied tables then replace. */
import { once } from 'node:events'
import { type Client, Query } from 'pg'
import {
  COPIED_TABLES,
  type CopiedRow,
  type CopiedTable,
  CopyError,
  type CopyTarget,
} from '../../api/copy.ts'
import { createOwnConnection, type Statements, statementsOf } from '../db/client.ts'
import { migrate } from '../db/migrate.ts'
import { toRows } from '../db/rows.sql.ts'
import { describe } from '../db/store-error.ts'
import * as SQL from './copy-target.sql.ts'

/** @throws MigrationError, CopyError when another copy runs */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  await migrate(url)
  const client = createOwnConnection(url)
  try {
    await client.connect()
    const db = statementsOf(client)
    await transact(client, async () => {
      await db.run(SQL.BOUND_COPY_WAIT)
      await db.all(SQL.LOCK_COPY)
    })
    const served = await db.first<{ name: string }>(SQL.FIND_SERVED_SCHEMA)
    return toTarget(url, client, served?.name as string)
  } catch (error) {
    await client.end().catch(() => undefined)
    const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE
    throw isLocked ? new CopyError('another copy to PostgreSQL runs') : toCopyError(error)
  }
}

const LOCK_NOT_AVAILABLE = '55P03'

/** @param served - the schema of the tables that servers have */
function toTarget(url: string, client: Client, served: string): CopyTarget {
  const db = statementsOf(client)

  async function findFilled(): Promise<string | null> {
    for (const table of COPIED_TABLES) {
      const found = await db.first<{ is_filled: boolean }>(SQL.findAny(served, table))
      if (found?.is_filled) return table.name
    }
    return null
  }

  return {
    findFilled: () => orCopyError(findFilled),
    begin: () =>
      orCopyError(async () => {
        const found = await db.first<{ name: string | null }>(SQL.FIND_COPY)
        const isResumed = found?.name !== null
        if (!isResumed) await db.run(SQL.CREATE_COPY)
        await migrate(url, { schema: SQL.COPY_SCHEMA })
        await db.run(SQL.USE_COPY)
        await db.run(SQL.CREATE_PLACES)
        await db.run(SQL.DROP_REFERENCES)
        return isResumed
      }),
    findPlace: ({ name }) =>
      orCopyError(async () => {
        const found = await db.first<{ place_json: string }>(SQL.FIND_PLACE, { name })
        return found === undefined ? null : JSON.parse(found.place_json)
      }),
    write: (table, rows) =>
      orCopyError(async () => {
        requireTexts(table, rows)
        const { name, key } = table
        const [first = {}, last = first] = [rows[0], rows.at(-1)]
        const place = key.map((column) => last[column])
        await transact(client, async () => {
          const sql = SQL.insertCopies(table, Object.keys(first))
          await db.run(sql, { rows: toRows(rows.map(toWritten)) })
          await db.run(SQL.SET_PLACE, { name, place_json: JSON.stringify(place) })
        })
      }),
    readRows: (stage, { name }, columns, take) =>
      orCopyError(async () => {
        const schema = stage === 'served' ? served : SQL.COPY_SCHEMA
        const query = client.query(new Query<CopiedRow>(SQL.listRows(schema, name, columns)))
        query.on('row', (row) => take(toRead(row)))
        await once(query, 'end')
      }),
    publish: () =>
      orCopyError(() =>
        transact(client, async () => {
          await db.run(SQL.BOUND_LOCK_WAIT)
          await db.run(SQL.lockTables(served, COPIED_TABLES))
          const filled = await findFilled()
          if (filled !== null) {
            throw new CopyError(`PostgreSQL is no longer empty (see its table ${filled})`)
          }
          await publish(db, served)
        }),
      ),
    discard: () => orCopyError(async () => void (await db.run(SQL.DROP_COPY))),
    close: () => client.end(),
  }
}

async function publish(db: Statements, served: string): Promise<void> {
  await db.run(SQL.ADD_REFERENCES)
  const numbered = await db.all<{ name: string; column: string }>(SQL.LIST_NUMBERED)
  for (const { name, column } of numbered) await db.run(SQL.setNextNumber(name, column))
  await db.run(SQL.dropTables(served, COPIED_TABLES))
  for (const table of COPIED_TABLES) await db.run(SQL.moveTable(served, table))
  await db.run(SQL.DROP_LEFT)
}

/** Runs statements as one transaction of a dedicated connection. */
async function transact(client: Client, run: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  try {
    await run()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
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

async function orCopyError<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw toCopyError(error)
  }
}

/** Returns the failure in one line, without text of the statement. */
function toCopyError(error: unknown): unknown {
  if (error instanceof Error && ['CopyError', 'MigrationError'].includes(error.name)) return error
  return new CopyError(`WEFT_META_URL: ${describe(error)}`)
}
