import { readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ProjectPrice } from '../../../src/domain/prices/project-prices.ts'
import { createWalGateMemory } from '../../../src/store/sqlite/db/wal-gate.ts'
import { openSqliteStore, type SqliteOptions } from '../../../src/store/sqlite/open.ts'
import { createWriter, openWriterThread } from '../../../src/store/sqlite/write/writer.ts'
import { STARTED } from '../../calls/call-fixtures.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'

const PROJECT = 'acme/demo'

function openStore(options: Partial<SqliteOptions> = {}) {
  const store = openSqliteStore({
    ingestQueueMax: 10_000,
    dataDir: makeTempDir(),
    ...options,
  })
  onTestFinished(() => store.close())
  return store
}

function entry(name: 'dying' | 'deaf'): URL {
  return new URL(`./support/${name}-writer-entry.ts`, import.meta.url)
}

function priceOf(id: string): ProjectPrice {
  return {
    id,
    project_id: PROJECT,
    llm_id: 'm',
    provider_id: 'default',
    prompt_token_cost: '1',
    completion_token_cost: '2',
    cache_read_input_token_cost: null,
    cache_creation_input_token_cost: null,
    svc_user_id: 'u',
    effective_at_us: 0,
    created_at_us: 0,
  }
}

describe('the writer', () => {
  it('the writer accepts concurrent writes of all stores', async () => {
    const { calls, prices } = openStore()
    const ids = Array.from({ length: 300 }, (_, n) => `c${n}`)
    const writes = ids.map(async (id, n) => {
      await new Promise((resolve) => setTimeout(resolve, n % 30))
      await Promise.all([calls.startCall(startOf({ id })), prices.createPrices([priceOf(id)])])
    })
    await Promise.all(writes)
    const found = await Promise.all(ids.map((id) => calls.findCall(PROJECT, id)))
    expect(found.filter((call) => call !== null)).toHaveLength(ids.length)
    await expect(prices.listPrices(PROJECT)).resolves.toHaveLength(ids.length)
  })

  it('waiting writes are stored when the store is closed', async () => {
    const dataDir = makeTempDir()
    const first = openStore({ dataDir })
    const started = Array.from({ length: 50 }, (_, n) =>
      first.calls.startCall(startOf({ id: `c${n}` })),
    )
    await first.close()
    await Promise.all(started)
    await expect(openStore({ dataDir }).calls.findCall(PROJECT, 'c49')).resolves.not.toBeNull()
  })

  it('refused parts of a batch fail alone, with their errors', async () => {
    const { calls } = openStore()
    await calls.endCall(endOf({ output: 1 }))
    const other = { start: null, end: endOf({ output: 2 }) }
    const fine = { start: startOf({ id: 'c2' }), end: null }
    const [refused, stored] = await calls.writeParts([other, fine])
    expect(refused?.error).toMatchObject({ code: 'call_conflict', param: 'end.id' })
    expect(stored).toEqual({ started: { id: 'c2', trace_id: 'made-trace' } })
  })

  it('writes beyond the queue are refused with server_overloaded', async () => {
    const { calls } = openStore({ ingestQueueMax: 2 })
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((id) => calls.startCall(startOf({ id }))),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results[2]).toMatchObject({ reason: { code: 'server_overloaded' } })
    await expect(calls.startCall(startOf({ id: 'c' }))).resolves.toMatchObject({ id: 'c' })
  })

  it('writes of more bytes than may wait are refused with server_overloaded, but one alone is accepted', async () => {
    const { calls } = openStore({ ingestQueueBytesMax: 10_000 })
    const large = (id: string) => startOf({ id, inputs: { text: 'x'.repeat(6_000) } })
    const results = await Promise.allSettled(['a', 'b'].map((id) => calls.startCall(large(id))))
    expect(results[0]?.status).toBe('fulfilled')
    expect(results[1]).toMatchObject({ reason: { code: 'server_overloaded', retryAfterS: 1 } })
    await expect(calls.startCall(large('b'))).resolves.toMatchObject({ id: 'b' })
  })

  it('waiting writes fail when the writer dies, and it is restarted', async () => {
    const { calls } = openStore({ writerEntry: entry('dying') })
    for (let time = 0; time < 2; time++) {
      const writes = ['a', 'b'].map((id) => calls.startCall(startOf({ id })))
      for (const result of await Promise.allSettled(writes)) {
        expect(result).toMatchObject({ reason: { code: 'store_unavailable', retryAfterS: 1 } })
      }
    }
  })

  it('the close of a store does not wait for a hanging writer, and waiting writes fail', async () => {
    const dataDir = makeTempDir()
    const writer = createWriter({
      queueMax: 10,
      queueBytesMax: 1000,
      closeMs: 20,
      open: (events) =>
        openWriterThread({ dataDir, gate: createWalGateMemory() }, events, entry('deaf')),
    })
    const write = expect(writer.run('cancel_job', { id: 'j', now_us: 1 })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    await writer.drain()
    await writer.close()
    await write
    await expect(writer.run('cancel_job', { id: 'j', now_us: 1 })).rejects.toMatchObject({
      code: 'server_draining',
    })
  })

  it('a closed store leaves no WAL', async () => {
    const dataDir = makeTempDir()
    const store = openStore({ dataDir })
    await store.calls.startCall(startOf({ id: 'a' }))
    await store.close()
    expect(readdirSync(dataDir).filter((name) => name.startsWith('weft.db'))).toEqual(['weft.db'])
  })
})

describe('a server that is written to', () => {
  it('each acknowledged call is counted in the next statistics response', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const count = 296
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
