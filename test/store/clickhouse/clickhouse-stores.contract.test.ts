import { describe } from 'vitest'
import { describeCallsQueryContract } from '../../calls/query/calls-query-contract.ts'
import { describeCallStoreContract } from '../call-store-contract.ts'
import { describeCallSumsContract } from '../call-sums-contract.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

describe.skipIf(!hasClickHouse)('with ClickHouse', () => {
  describeCallStoreContract('clickhouse', async () => (await openTestStores()).calls)
  describeCallSumsContract('clickhouse', openTestStores)
  describeCallsQueryContract('clickhouse', openTestStores)
})
