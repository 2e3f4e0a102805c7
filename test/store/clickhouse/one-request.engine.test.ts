import { describe, expect, it } from 'vitest'
import type { ClickHouseStores } from '../../../src/store/clickhouse/open.ts'
import { compareHistories } from '../../usage/support/request-histories.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

describe.skipIf(!hasClickHouse)('requests that several calls report, in ClickHouse', () => {
  it.each([
    ['by what is noted with the calls', 0],
    ['by the reports of their children', 50_000],
  ])(
    'requests count once %s, in any order',
    async (_title, joinedMax) => {
      const differing = await compareHistories({
        open: () => openTestStores({ joinedMax }),
        close: async () => undefined,
        build: async (stores) => void (await (stores as ClickHouseStores).hours.buildAll()),
        runs: 6,
      })
      expect(differing).toBeGreaterThan(0)
    },
    240_000,
  )
})
