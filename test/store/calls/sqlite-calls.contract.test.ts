import { describe, expect, it, onTestFinished } from 'vitest'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeCallStoreContract, endOf, startOf } from './call-store-contract.ts'
import { describeRootsContract } from './roots-contract.ts'

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

async function openInMemory() {
  const store = openSqliteStore({ ...OPTIONS, dataDir: ':memory:' })
  onTestFinished(() => store.close())
  return store
}

describeRootsContract('sqlite', openInMemory, 150)

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

  it('sqlite calls of spans that were stored while they ran are as if they had come complete', async () => {
    const spanOf = (n: number) =>
      startOf({
        trace_id: 't',
        thread_id: `s${n}`,
        attributes: { n },
        otel_dump: { n },
        inputs: { ref: `weave:///a/b/object/o:${n}`, more: 'x'.repeat(n) },
      })
    const end = endOf({ id: 'call-1', output: 1, summary: { usage: { m: { input_tokens: 3 } } } })
    const startUs = spanOf(1).started_at_us
    async function play(batches: readonly CallParts[][]) {
      const store = openSqliteStore({ ...OPTIONS, dataDir: ':memory:' })
      onTestFinished(() => store.close())
      for (const batch of batches) await store.calls.writeParts(batch)
      const countOf = (filter: object) =>
        store.stats.aggregate(
          {
            project_id: 'acme/demo',
            filter,
            startUs,
            endUs: startUs + 1,
            startsUs: new Float64Array([startUs]),
            callColumns: toColumns([
              { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
            ]),
            usageColumns: [],
            prices: [],
            counting: 'own',
            valuesMax: 100,
          },
          readCaller(),
        )
      return {
        found: await store.calls.findCall('acme/demo', 'call-1'),
        all: await countOf({}),
        first: await countOf({ input_refs: ['weave:///a/b/object/o:1'] }),
        second: await countOf({ input_refs: ['weave:///a/b/object/o:2'] }),
        thread: await countOf({ thread_ids: ['s2'] }),
      }
    }
    const running = { start: spanOf(1), end: null }
    const whole = { start: spanOf(2), end }
    const expected = await play([[whole]])
    expect(expected.found).toMatchObject({ attributes: { n: 2 }, thread_id: 's2', output: 1 })
    expect(expected.first).not.toEqual(expected.second)
    expect(await play([[running], [whole]])).toEqual(expected)
    expect(await play([[running, whole]])).toEqual(expected)
    expect(await play([[whole], [running]])).toEqual(expected)
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
