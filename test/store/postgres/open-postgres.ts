/** The stores over an empty PostgreSQL database of a test's own, closed by themselves when the test ends. */
import { onTestFinished } from 'vitest'
import { openPostgresStores } from '../../../src/store/postgres/open.ts'
import { type NodeStores, openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { makeDatabase } from './postgres-server.ts'

/** @param url - of a database that others use, too */
export async function openTestStores(url?: string): Promise<NodeStores> {
  const address = url ?? (await makeDatabase())
  const node = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 1000 })
  const stores = await openPostgresStores(node, {
    ...{ url: address, readTimeoutMs: 20_000, writeTimeoutMs: 20_000 },
  })
  onTestFinished(() => stores.close())
  return stores
}
