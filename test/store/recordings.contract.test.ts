import { describe, expect, it, onTestFinished } from 'vitest'
import type { RecordingLoss } from '../../src/store/api/recordings.ts'
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/open.ts'
import { createWriteThread } from '../../src/store/sqlite/write-thread.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeRecordingContract, recordedCall } from './recordings-contract.ts'

const PROJECT = 'acme/demo'

function openStore(options: Partial<SqliteOptions> = {}) {
  const store = openSqliteStore({
    ...{ dataDir: makeTempDir(), bootstrapKey: null, ingestQueueMax: 1000, writesBeforeThread: 0 },
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

describeRecordingContract('sqlite', () => openStore({ dataDir: ':memory:' }))
describeRecordingContract('sqlite with a write thread', () => openStore())

describe('sqlite recordings', () => {
  it('are all there when the store is closed, in the ring and beside it', async () => {
    const dataDir = makeTempDir()
    const first = openStore({ dataDir, ingestQueueMax: 2_000, writesBeforeThread: 10 })
    const ids = Array.from({ length: 2_000 }, (_, n) => `c${n}`)
    for (const id of ids) {
      first.recordings.add(recordedCall({ id }, { output_json: `"${'x'.repeat(5_000)}"` }))
    }
    await first.close()
    const { calls } = openStore({ dataDir })
    const found = await Promise.all(ids.map((id) => calls.findCall(PROJECT, id)))
    expect(found.filter((call) => call !== null)).toHaveLength(ids.length)
  })

  it('take turns with what the main connection writes', async () => {
    const { calls, recordings, prices } = openStore()
    const ids = Array.from({ length: 300 }, (_, n) => `c${n}`)
    for (const [n, id] of ids.entries()) {
      recordings.add(recordedCall({ id }))
      if (n % 10 === 0) await prices.purgePrices(PROJECT, [id])
    }
    await recordings.flush()
    const found = await Promise.all(ids.map((id) => calls.findCall(PROJECT, id)))
    expect(found.filter((call) => call !== null)).toHaveLength(ids.length)
  })

  it('that find no room are told as lost', async () => {
    const { recordings } = openStore({ ingestQueueMax: 1, writesBeforeThread: 2 })
    const losses: RecordingLoss[] = []
    recordings.onLoss((loss) => losses.push(loss))
    recordings.add(recordedCall({ id: 'a' }))
    recordings.add(recordedCall({ id: 'b' }))
    const error = expect.objectContaining({ code: 'server_overloaded' })
    expect(losses).toEqual([{ count: 1, error }])
    await recordings.flush()
    recordings.add(recordedCall({ id: 'c' }))
    await recordings.flush()
    expect(losses).toHaveLength(1)
  })

  it('are told as lost when the thread dies, and the next ones meet another', async () => {
    const losses: RecordingLoss[] = []
    const thread = createWriteThread({
      ...{ dataDir: makeTempDir(), queueMax: 10 },
      ...{ onCommit: () => undefined, onLost: () => undefined },
      onRecordsLost: (loss) => losses.push(loss),
      workerFile: new URL('./support/dying-write-worker.ts', import.meta.url),
    })
    onTestFinished(() => thread.close())
    for (const counts of [[3], [3, 2]]) {
      for (let n = 0; n < (counts.at(-1) ?? 0); n++)
        expect(thread.record(recordedCall())).toBe(true)
      await thread.flushRecords()
      expect(losses.map(({ count }) => count)).toEqual(counts)
    }
  })
})
