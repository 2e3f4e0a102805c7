/** Compares filled stores with written ones: their rows, and their statistics. */
import { deepEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { DATABASE_FILE, openReadOnlyDatabase } from '../../src/store/sqlite/db/connection.ts'
import type { StoreCase } from '../servers/store-cases.ts'
import { caller, STATISTICS } from './store-queries.ts'

/** A store and its data directory. */
interface Compared {
  readonly store: StoreCase
  readonly dataDir: string
}

/** @throws AssertionError at the first difference */
export async function compareWithWrites(filled: Compared, written: Compared): Promise<void> {
  await (filled.store.url === null ? compareSqlite : compareClickHouse)(filled, written)
  for (const built of [false, true]) {
    for (const [name, query] of Object.entries(STATISTICS)) {
      const [of, as] = [filled, written].map(({ store }) =>
        store.stores.stats.aggregate(query, caller),
      )
      deepEqual(await of, await as, name)
    }
    console.log(`statistics ${built ? 'of built hours' : 'from rows'} are equal`)
    await filled.store.buildAll()
    await written.store.buildAll()
  }
}

function compareSqlite(filled: Compared, written: Compared): void {
  for (const table of ['calls', 'call_bodies', 'call_usage']) {
    const [of, as] = [filled, written].map(({ dataDir }) => {
      const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
      return db.prepare(`SELECT * FROM ${table} ORDER BY call_key`).iterate()
    })
    let rows = 0
    for (const row of of ?? []) {
      deepEqual(row, as?.next().value)
      rows++
    }
    deepEqual(as?.next().done, true)
    console.log(`${rows} rows of ${table} are equal`)
  }
}

/** By the sum of the hashes of each column, with the ids. */
async function compareClickHouse(filled: Compared, written: Compared): Promise<void> {
  for (const table of ['calls', 'call_ids']) {
    const [of, as] = [await sumHashes(filled, table), await sumHashes(written, table)]
    deepEqual(of, as)
    console.log(
      `${of?.rows} rows of ${table} are equal in ${Object.keys(of ?? {}).length - 1} columns`,
    )
  }
}

async function sumHashes({ store }: Compared, table: string) {
  const client = createClient({ url: store.url ?? '' })
  const query = async <Row>(sql: string) =>
    (await client.query({ query: sql, format: 'JSONEachRow' })).json<Row>()
  const columns = await query<{ name: string }>(`
SELECT name FROM system.columns
WHERE database = currentDatabase() AND table = '${table}' AND name != 'stored_at'`)
  const sums = columns.map(
    ({ name }) =>
      `toString(sum(cityHash64(id, toJSONString(\`${name}\`)))) AS \`hashes of ${name}\``,
  )
  const [row] = await query<Record<string, unknown>>(
    `SELECT count() AS rows, ${sums.join(', ')} FROM ${table} FINAL`,
  )
  await client.close()
  return row
}
