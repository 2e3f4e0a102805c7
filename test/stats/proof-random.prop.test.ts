import { describe, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { hasClickHouse } from '../store/clickhouse/clickhouse-server.ts'
import { openTestStores } from '../store/clickhouse/open-clickhouse.ts'
import { proveStats } from './support/random-worlds.ts'

/** All that calls are grouped by. */
const FIELDS = 7
const RUNS = 30
/** Each write waits for the disk of another process: a run takes some ten seconds. */
const CLICKHOUSE_RUNS = 3

describe('POST /calls/stats', () => {
  it('statistics equal naive ones to the last digit, whatever is written in between', async () => {
    const store = openSqliteStore({
      dataDir: ':memory:',
      ingestQueueMax: 1000,
      segmentRowsMax: 3,
    })
    onTestFinished(() => store.close())
    await proveStats(store, store.segments.buildAll, RUNS, FIELDS)
  }, 120_000)

  it.skipIf(!hasClickHouse)(
    'statistics in ClickHouse equal naive ones to the last digit',
    async () => {
      const stores = await openTestStores()
      await proveStats(stores, stores.hours.buildAll, CLICKHOUSE_RUNS, 3)
    },
    120_000,
  )
})
