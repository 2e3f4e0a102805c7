/** The stores of calls that benchmarks compare: SQLite in this process, ClickHouse's engine in one of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@clickhouse/client'
import type { Stores } from '../../src/store/api/stores.ts'

const FRONT = fileURLToPath(new URL('../../test/store/clickhouse/chdb-front.ts', import.meta.url))

/** A store with the calls, of this checkout or of another. */
export interface StoreCase {
  readonly name: string
  readonly stores: Stores
  /** Brings what is built in the background up to date. */
  buildAll(): Promise<unknown>
  /** Bytes on disk. */
  countBytes(): Promise<number>
  /** The address of ClickHouse; null: this is SQLite. */
  readonly url: string | null
  /** The process of the engine; undefined for one elsewhere. */
  readonly pid: number | undefined
  close(): Promise<void>
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}

async function startFront(): Promise<{ url: string; child: ChildProcess }> {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' }
  const child = spawn(process.execPath, [FRONT], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: `http://127.0.0.1:${port}/default`, child }
}

/** The functions of a checkout that open stores. */
async function importStores(checkout: string) {
  const { openSqliteStore } = (await import(
    join(checkout, 'src/store/sqlite/open.ts')
  )) as typeof import('../../src/store/sqlite/open.ts')
  const { openClickHouseStores } = (await import(
    join(checkout, 'src/store/clickhouse/open.ts')
  )) as typeof import('../../src/store/clickhouse/open.ts')
  return { openSqliteStore, openClickHouseStores }
}

export async function openSqlite(
  checkout: string,
  name: string,
  dataDir: string,
): Promise<StoreCase> {
  const { openSqliteStore } = await importStores(checkout)
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  return {
    name,
    stores: store,
    buildAll: () => store.segments.buildAll(),
    countBytes: async () => bytesIn(dataDir),
    url: null,
    pid: process.pid,
    close: () => store.close(),
  }
}

async function bytesOfParts(url: string): Promise<number> {
  const client = createClient({ url })
  const query = `
SELECT sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
`
  const found = await (await client.query({ query, format: 'JSONEachRow' })).json<{
    bytes: string
  }>()
  await client.close()
  return Number(found[0]?.bytes)
}

/**
 * @param given - the address of a server; without it the engine is started
 * @param buildsHours - whether hours are built also without buildAll
 */
export async function openClickHouse(
  checkout: string,
  name: string,
  dataDir: string,
  {
    given,
    buildsHours = true,
  }: { readonly given?: string | undefined; buildsHours?: boolean } = {},
) {
  const { openSqliteStore, openClickHouseStores } = await importStores(checkout)
  const front = given === undefined ? await startFront() : null
  const url = given ?? front?.url ?? ''
  const node = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const stores = await openClickHouseStores(node, {
    url,
    cluster: null,
    ingestQueueMax: 1000,
    ingestQueueBytesMax: 2 ** 28,
    readsMax: 4,
    readQueueMax: 256,
    readTimeoutMs: 600_000,
    closeMs: 8000,
    buildsHours,
  })
  return {
    name,
    stores,
    // Another checkout may not build hours.
    buildAll: async () => stores.hours?.buildAll(),
    countBytes: () => bytesOfParts(url),
    url,
    pid: front?.child.pid,
    async close() {
      await stores.close()
      front?.child.kill()
    },
  }
}
