import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { measureHeap } from '../support/heap.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Of each route in one round. */
const REQUESTS = 100
const ROUNDS = 3
/** Bytes per request on average: a quarter of what a signal leaks that stays attached to a permanent one. */
const CACHED_BYTES_MAX = 300

const project_id = 'acme/demo'
const READS: readonly (readonly [string, object])[] = [
  [
    '/calls/stats',
    { project_id, start: '2026-01-01T00:00:00Z', call_metrics: [{ metric: 'call_count' }] },
  ],
  ['/calls/stream_query', { project_id }],
  ['/calls/query_stats', { project_id }],
  ['/calls/usage', { project_id, call_ids: ['a'] }],
  ['/feedback/query', { project_id }],
  ['/feedback/payload_schema', { project_id, start: '2026-01-01T00:00:00Z' }],
  ['/objs/query', { project_id }],
  ['/v1/preview/worker/claim', { worker_id: 'w', worker_version: '1', base_models: ['tiny'] }],
]

describe('the heap', () => {
  it('does not grow with requests that depend on signals of their client and of the server', async () => {
    const { post } = await buildTestApp({ dataDir: makeTempDir() })
    async function ask(count: number): Promise<void> {
      for (const [url, body] of READS) {
        for (let n = 0; n < count; n++) {
          const { status } = await post(url, body)
          if (status >= 300) throw new Error(`${url} answered ${status}`)
        }
      }
    }
    await ask(REQUESTS)
    const retained: number[] = []
    let before = await measureHeap()
    for (let round = 0; round < ROUNDS; round++) {
      await ask(REQUESTS)
      const after = await measureHeap()
      retained.push((after - before) / (REQUESTS * READS.length))
      before = after
    }
    // A leak shows in each round; caches and compiled code grow only in some.
    expect(Math.min(...retained)).toBeLessThan(CACHED_BYTES_MAX)
  })
})
