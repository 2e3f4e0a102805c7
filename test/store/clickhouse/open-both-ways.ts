/** Stores that read built hours, whatever they hold, and others over the same tables that read rows. */
import { onTestFinished } from 'vitest'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const NEVER = Number.MAX_SAFE_INTEGER

export async function openBothWays() {
  const url = await makeDatabase()
  const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  const stores = await openTestStores({ url })
  const ofRows = await openTestStores({ url, builtMin: NEVER, usageBuiltMin: NEVER })
  return { url, db, stores, ofRows }
}
