import { onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeQueueRulesContract } from './queue-rules-contract.ts'

for (const [name, dataDir] of [
  ['sqlite', () => ':memory:'],
  ['sqlite with threads', makeTempDir],
] as const) {
  describeQueueRulesContract(name, async () => {
    const store = openSqliteStore({ ingestQueueMax: 1000, dataDir: dataDir() })
    onTestFinished(() => store.close())
    return store
  })
}
