import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RecordingLoss } from '../../../src/store/api/chat/recordings.ts'
import { DATABASE_FILE, openReadOnlyDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore, type SqliteOptions } from '../../../src/store/sqlite/open.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { startOf } from '../calls/call-store-contract.ts'
import { describeRecordingContract, recordedCall } from './recordings-contract.ts'

const PROJECT = 'acme/demo'

const refOf = (n: number) => `weave:///acme/demo/object/o:${n}`

const STORED_CALLS = `
SELECT
  id,
  coalesce(output_json, unzstd(output_zstd)) AS output,
  coalesce(group_concat(model), '') AS models,
  max(requests) AS requests,
  ref
FROM calls
JOIN call_bodies USING (call_key)
JOIN call_refs USING (call_key)
JOIN refs USING (ref_key)
LEFT JOIN call_usage USING (call_key)
GROUP BY call_key
ORDER BY call_key
`

function openStore(options: Partial<SqliteOptions> = {}) {
  const store = openSqliteStore({
    dataDir: makeTempDir(),
    ingestQueueMax: 1000,
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

describeRecordingContract('sqlite', async () => openStore({ dataDir: ':memory:' }))
describeRecordingContract('sqlite with a writer', async () => openStore())

describe('sqlite recordings', () => {
  it('recordings are all stored when the store is closed', async () => {
    const dataDir = makeTempDir()
    const first = openStore({ dataDir })
    const ids = Array.from({ length: 2_000 }, (_, n) => `c${n}`)
    for (const id of ids) {
      first.recordings.add(recordedCall({ id }, { output_json: `"${'x'.repeat(5_000)}"` }))
    }
    await first.close()
    const { calls } = openStore({ dataDir })
    const found = await Promise.all(ids.map((id) => calls.findCall(PROJECT, id)))
    expect(found.filter((call) => call !== null)).toHaveLength(ids.length)
  })

  it('each recording has its own bodies, refs and usage', async () => {
    const dataDir = makeTempDir()
    const store = openStore({ dataDir })
    const expected = Array.from({ length: 50 }, (_, n) => ({
      id: `c${n}`,
      output: `["${'x'.repeat(n % 7 === 0 ? 5_000 : 0)}","${refOf(n)}"]`,
      models: ['a', 'b'].slice(0, n % 3).join(),
      requests: n % 3 === 0 ? null : n,
    }))
    for (const [n, { id, output, models }] of expected.entries()) {
      const names = models.split(',').filter(Boolean)
      const usage = Object.fromEntries(names.map((name) => [name, { requests: n }]))
      store.recordings.add(recordedCall({ id, summary: { usage } }, { output_json: output }))
    }
    await store.close()
    const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
    onTestFinished(() => void db.close())
    const rows = db.prepare(STORED_CALLS).all() as { ref: string }[]
    expect(rows.map(({ ref, ...row }) => row)).toEqual(expected)
    expect(rows.map(({ ref }) => ref)).toEqual(expected.map((_, n) => refOf(n)))
  })

  it('recordings without disk space are reported as lost', async () => {
    const { recordings, calls } = openStore({ ingestQueueMax: 1 })
    const losses: RecordingLoss[] = []
    recordings.onLoss((loss) => losses.push(loss))
    const start = calls.startCall(startOf({ id: 'first' }))
    const arrivals = ['a', 'b'].map(
      (id) =>
        new Promise<void>((resolve) => {
          recordings.add(recordedCall({ id }), resolve)
        }),
    )
    await Promise.all([start, recordings.flush(), ...arrivals])
    const error = expect.objectContaining({ code: 'server_overloaded' })
    expect(losses).toEqual([{ count: 2, error }])
    recordings.add(recordedCall({ id: 'c' }))
    await recordings.flush()
    expect(losses).toHaveLength(1)
  })

  it('recordings are reported as lost when the writer dies, and no reader waits for them', async () => {
    const { recordings, calls } = openStore({
      writerEntry: new URL('../support/dying-writer-entry.ts', import.meta.url),
    })
    const losses: RecordingLoss[] = []
    recordings.onLoss((loss) => losses.push(loss))
    for (const counts of [[3], [3, 2]]) {
      const arrive = recordings.announce(PROJECT, 'c0')
      for (let n = 0; n < (counts.at(-1) ?? 0); n++) {
        recordings.add(recordedCall({ id: `c${n}` }), n === 0 ? arrive : undefined)
      }
      await expect(calls.findCall(PROJECT, 'c0')).resolves.toBeNull()
      await recordings.flush()
      expect(losses.map(({ count }) => count)).toEqual(counts)
    }
  })
})
