/** The stores over an empty ClickHouse database of a test's own, closed by themselves when the test ends. */
import { onTestFinished } from 'vitest'
import type { NodeStores } from '../../../src/store/base/node-stores.ts'
import {
  type ClickHouseStoreOptions,
  type ClickHouseStores,
  openClickHouseStores,
} from '../../../src/store/clickhouse/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { borrowDatabase } from './clickhouse-server.ts'

/** @param given - what calls are put beside; closed with the stores. Default: a node in memory */
export async function openTestStores(
  fields: Partial<ClickHouseStoreOptions> = {},
  given: NodeStores | null = null,
): Promise<ClickHouseStores> {
  const url = fields.url ?? (await borrowDatabase())
  const node = given ?? openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 1000 })
  const stores = await openClickHouseStores(node, {
    url,
    cluster: null,
    ingestQueueMax: 1000,
    ingestQueueBytesMax: 64 * 1024 * 1024,
    readsMax: 4,
    readQueueMax: 256,
    readTimeoutMs: 20_000,
    closeMs: 1000,
    // Else what was noted of so few calls would never be read.
    joinedMax: 0,
    builtMin: 0,
    usageBuiltMin: 0,
    buildsHours: false,
    ...fields,
  })
  onTestFinished(() => stores.close())
  return stores
}
