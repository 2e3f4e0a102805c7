import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeCallStoreContract, endOf, startOf } from './call-store-contract.ts'

const OPTIONS = { ingestQueueMax: 1000 }

describeCallStoreContract('sqlite', async () => {
  const store = openSqliteStore({ ...OPTIONS, dataDir: ':memory:' })
  onTestFinished(() => store.close())
  return store.calls
})

describeCallStoreContract('sqlite with a writer', async () => {
  const store = openSqliteStore({ ...OPTIONS, dataDir: makeTempDir() })
  onTestFinished(() => store.close())
  return store.calls
})

describe('sqlite calls', () => {
  it('sqlite calls persist over a restart', async () => {
    const dataDir = makeTempDir()
    const first = openSqliteStore({ ...OPTIONS, dataDir })
    await first.calls.startCall(startOf())
    await first.calls.endCall(endOf({ output: 1 }))
    const before = await first.calls.findCall('acme/demo', 'call-1')
    await first.close()
    const second = openSqliteStore({ ...OPTIONS, dataDir })
    onTestFinished(() => second.close())
    await expect(second.calls.findCall('acme/demo', 'call-1')).resolves.toEqual(before)
  })

  it('sqlite calls with pending writes are all stored when the store is closed', async () => {
    const dataDir = makeTempDir()
    const first = openSqliteStore({ ...OPTIONS, dataDir })
    const writes = Array.from({ length: 50 }, (_, at) =>
      first.calls.startCall(startOf({ id: `c${at}` })),
    )
    await first.close()
    await Promise.all(writes)
    const second = openSqliteStore({ ...OPTIONS, dataDir })
    onTestFinished(() => second.close())
    await expect(second.calls.findCall('acme/demo', 'c49')).resolves.not.toBeNull()
  })
})
