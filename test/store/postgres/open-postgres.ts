/** The stores over an empty PostgreSQL database of a test's own, closed by themselves when the test ends. */
import { onTestFinished } from 'vitest'
import type { Stores } from '../../../src/store/api/stores.ts'
import type { NodeStores } from '../../../src/store/base/node-stores.ts'
import { openPostgresStores } from '../../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { openTestStores as openClickHouseStores } from '../clickhouse/open-clickhouse.ts'
import { borrowDatabase } from './postgres-server.ts'

/** @param url - of a database that others use, too */
async function openUnclosed(url?: string): Promise<NodeStores> {
  const address = url ?? (await borrowDatabase())
  const node = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 1000 })
  const stores = await openPostgresStores(node, {
    url: address,
    writeTimeoutMs: 20_000,
    reads: { slots: 4, queueMax: 256, waitMsMax: 20_000 },
  })
  return stores
}

export async function openTestStores(url?: string): Promise<NodeStores> {
  const stores = await openUnclosed(url)
  onTestFinished(() => stores.close())
  return stores
}

/** The same with calls in ClickHouse. */
export async function openWithCalls(): Promise<Stores> {
  return openClickHouseStores({}, await openUnclosed())
}
