import { describe } from 'vitest'
import { describeAnnotationStoreContract } from '../../annotation/annotation-store-contract.ts'
import { describeCallsQueryContract } from '../../calls/query/calls-query-contract.ts'
import { describeCallStoreContract, startOf } from '../call-store-contract.ts'
import { describeCallSumsContract } from '../call-sums-contract.ts'
import { describeRecordingContract } from '../recordings/recordings-contract.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

describe.skipIf(!hasClickHouse)('with ClickHouse', () => {
  describeCallStoreContract('clickhouse', async () => (await openTestStores()).calls)
  describeCallSumsContract('clickhouse', openTestStores)
  describeRecordingContract('clickhouse', () => openTestStores())
  describeCallsQueryContract('clickhouse', openTestStores)
  describeAnnotationStoreContract('clickhouse', async () => {
    const { annotation, calls } = await openTestStores()
    return {
      annotation,
      async startCalls(project_id, ids) {
        for (const id of ids) await calls.startCall(startOf({ project_id, id }))
      },
    }
  })
})
