import { describe, expect, it, onTestFinished } from 'vitest'
import type { ProjectPrice } from '../../src/domain/prices/project-prices.ts'
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/open.ts'
import { WRITES_BEFORE_THREAD } from '../../src/store/sqlite/write/call-writes.ts'
import { createWriteThread } from '../../src/store/sqlite/write/write-thread.ts'
import { STARTED } from '../calls/call-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { endOf, startOf } from './call-store-contract.ts'

const PROJECT = 'acme/demo'

function openStore(options: Partial<SqliteOptions> = {}) {
  const store = openSqliteStore({
    ...{ bootstrapKey: null, ingestQueueMax: 10_000, writesBeforeThread: 0 },
    dataDir: makeTempDir(),
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

function priceOf(id: string): ProjectPrice {
  return {
    ...{ id, project_id: PROJECT, llm_id: 'm', provider_id: 'default' },
    ...{ prompt_token_cost: '1', completion_token_cost: '2' },
    ...{ cache_read_input_token_cost: null, cache_creation_input_token_cost: null },
    ...{ svc_user_id: 'u', effective_at_us: 0, created_at_us: 0 },
  }
}

describe('the write thread', () => {
  it('takes turns with what the main connection writes', async () => {
    const { calls, prices } = openStore()
    const ids = Array.from({ length: 300 }, (_, n) => `c${n}`)
    const writes = ids.map(async (id, n) => {
      // In several turns, so that both wait for each other.
      await new Promise((resolve) => setTimeout(resolve, n % 30))
      await Promise.all([calls.startCall(startOf({ id })), prices.createPrices([priceOf(id)])])
    })
    await Promise.all(writes)
    const found = await Promise.all(ids.map((id) => calls.findCall(PROJECT, id)))
    expect(found.filter((call) => call !== null)).toHaveLength(ids.length)
    await expect(prices.listPrices(PROJECT)).resolves.toHaveLength(ids.length)
  })

  it('has written what waits when the store is closed', async () => {
    const dataDir = makeTempDir()
    const first = openStore({ dataDir })
    const started = Array.from({ length: 50 }, (_, n) =>
      first.calls.startCall(startOf({ id: `c${n}` })),
    )
    await first.close()
    await Promise.all(started)
    await expect(openStore({ dataDir }).calls.findCall(PROJECT, 'c49')).resolves.not.toBeNull()
  })

  it('refuses parts of a batch alone, with their errors', async () => {
    const { calls } = openStore()
    await calls.endCall(endOf({ output: 1 }))
    const other = { start: null, end: endOf({ output: 2 }) }
    const fine = { start: startOf({ id: 'c2' }), end: null }
    const [refused, stored] = await calls.writeParts([other, fine])
    expect(refused?.error).toMatchObject({ code: 'call_conflict', param: 'end.id' })
    expect(stored).toEqual({ started: { id: 'c2', trace_id: 'made-trace' } })
  })

  it('refuses more than may wait with server_overloaded', async () => {
    const { calls } = openStore({ ingestQueueMax: 2 })
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((id) => calls.startCall(startOf({ id }))),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results[2]).toMatchObject({ reason: { code: 'server_overloaded' } })
    await expect(calls.startCall(startOf({ id: 'c' }))).resolves.toMatchObject({ id: 'c' })
  })

  it('fails what waits when it dies, lets others write, and starts again', async () => {
    let losses = 0
    const thread = createWriteThread({
      ...{ dataDir: makeTempDir(), queueMax: 10, onCommit: () => undefined },
      onRecordsLost: () => undefined,
      onLost: () => {
        losses += 1
      },
      workerFile: new URL('./support/dying-write-worker.ts', import.meta.url),
    })
    onTestFinished(() => thread.close())
    for (let time = 0; time < 2; time++) {
      const writes = ['a', 'b'].map((id) => thread.run('start_call', startOf({ id })))
      const results = await Promise.allSettled(writes)
      for (const result of results) {
        expect(result).toMatchObject({ reason: { code: 'store_unavailable' } })
      }
      await new Promise<void>((resolve) => thread.takeTurn(resolve))
      expect(losses).toBe(time + 1)
    }
  })

  it('stands still again for a turn that is asked for in a turn', async () => {
    const thread = createWriteThread({
      ...{ dataDir: makeTempDir(), queueMax: 10 },
      ...{ onCommit: () => undefined, onLost: () => undefined, onRecordsLost: () => undefined },
      workerFile: new URL('./support/listening-write-worker.ts', import.meta.url),
    })
    onTestFinished(() => thread.close())
    await thread.run('start_call', startOf({ id: 'a' }))
    await new Promise<void>((resolve) => thread.takeTurn(() => thread.takeTurn(resolve)))
    const words: unknown = await thread.run('start_call', startOf({ id: 'b' }))
    expect(words).toEqual(['pause', 'resume', 'pause', 'resume'])
  })
})

describe('a server that is written to', () => {
  it('goes over to the thread without losing a call or an answer of statistics', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const count = WRITES_BEFORE_THREAD + 40
    const post = async (n: number) => {
      const start = { ...STARTED, id: `c${n}` }
      expect((await app.post('/call/start', { start })).status).toBe(200)
    }
    const countCalls = async () => {
      const window = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' }
      const metrics = { usage_metrics: [], call_metrics: [{ metric: 'call_count' }] }
      const body = { project_id: PROJECT, ...window, granularity: 31 * 86_400, ...metrics }
      const answer = await app.post('/calls/stats', body)
      expect(answer.status).toBe(200)
      const buckets: { readonly sum_call_count?: number }[] = answer.body.call_buckets
      return buckets.reduce((sum, bucket) => sum + (bucket.sum_call_count ?? 0), 0)
    }
    for (let n = 0; n < count; n += 37) {
      const batch = Array.from({ length: Math.min(37, count - n) }, (_, at) => post(n + at))
      await Promise.all(batch)
      await expect(countCalls()).resolves.toBe(Math.min(count, n + 37))
    }
  })
})
