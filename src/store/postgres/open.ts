/**
 * The stores that several processes share: keys and prices lie in PostgreSQL, what else there is on the node. Calls
 * are put into ClickHouse over these.
 */
import type { NodeStores } from '../sqlite/open.ts'
import { createKeyStore } from './access/keys.ts'
import { connectPostgres, type PostgresOptions } from './db/client.ts'
import { migrate } from './db/migrate.ts'
import { createStoreHealth } from './health/store-health.ts'
import { createPriceStore } from './prices/prices.ts'

/**
 * Opens PostgreSQL beside the node's own store, migrations included. Closing it closes both.
 *
 * @throws MigrationError; the node's store is then left open
 */
export async function openPostgresStores(
  node: NodeStores,
  options: PostgresOptions,
): Promise<NodeStores> {
  await migrate(options.url)
  const db = connectPostgres(options)
  return {
    ...node,
    keys: createKeyStore(db),
    prices: createPriceStore(db),
    checkStore: createStoreHealth(db, node).checkStore,
    async close() {
      await node.close()
      await db.close()
    },
  }
}

/**
 * The keys alone, for a command beside servers.
 *
 * @throws MigrationError
 */
export async function openPostgresKeys(url: string) {
  await migrate(url)
  const db = connectPostgres({ url, connectionsMax: 1, readTimeoutMs: COMMAND_MS_MAX })
  return { keys: createKeyStore(db), close: db.close }
}

/** Limit: time of a statement of a command. */
const COMMAND_MS_MAX = 10_000
