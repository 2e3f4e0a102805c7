import { onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeCallsLatencyContract } from './calls-latency-contract.ts'
import { describeCallsQueryContract } from './calls-query-contract.ts'
import { describeCallsRefsContract } from './calls-refs-contract.ts'

async function open(dataDir: string) {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  onTestFinished(() => store.close())
  return store
}

describeCallsQueryContract('sqlite in memory', () => open(':memory:'))
describeCallsQueryContract('sqlite in files', () => open(makeTempDir()))
describeCallsRefsContract('sqlite', () => open(':memory:'))
describeCallsLatencyContract('sqlite in memory', () => open(':memory:'))
describeCallsLatencyContract('sqlite in files', () => open(makeTempDir()))
