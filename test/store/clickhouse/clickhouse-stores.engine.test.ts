import { describe } from 'vitest'
import { describeAnnotationStoreContract } from '../../annotation/annotation-store-contract.ts'
import { describeCallsLatencyContract } from '../../calls/query/calls-latency-contract.ts'
import { describeCallsQueryContract } from '../../calls/query/calls-query-contract.ts'
import { describeCallsRefsContract } from '../../calls/query/calls-refs-contract.ts'
import { describeThreadStoreContract } from '../../threads/threads-contract.ts'
import { describeCallRemovalContract } from '../calls/call-removal-contract.ts'
import { describeCallStoreContract } from '../calls/call-store-contract.ts'
import { describeCallSumsContract } from '../calls/call-sums-contract.ts'
import { describeRootsContract } from '../calls/roots-contract.ts'
import { describeClosingContract } from '../closing-contract.ts'
import { describeRecordingContract } from '../recordings/recordings-contract.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

describe.skipIf(!hasClickHouse)('with ClickHouse', () => {
  describeClosingContract('clickhouse', openTestStores)
  describeCallStoreContract('clickhouse', async () => (await openTestStores()).calls)
  describeCallSumsContract('clickhouse', openTestStores)
  describeCallRemovalContract('clickhouse', openTestStores, {
    laterParents: 'notes hold as long as the reports of children are there',
  })
  describeRootsContract('clickhouse', openTestStores, 8)
  describeThreadStoreContract('clickhouse', () => openTestStores(), 5)
  describeRecordingContract('clickhouse', () => openTestStores())
  describeCallsQueryContract('clickhouse', openTestStores)
  describeCallsRefsContract('clickhouse', openTestStores)
  describeCallsLatencyContract('clickhouse', openTestStores)
  describeAnnotationStoreContract('clickhouse', () => openTestStores())
})
