import { describe, expect, it } from 'vitest'
import { hasClickHouse } from './clickhouse-server.ts'
import { buildClickHouseApp as open } from './describe-each-store.ts'

const project_id = 'acme/demo'
const started_at = '2026-01-01T10:00:00Z'

describe.skipIf(!hasClickHouse)('a server with calls in ClickHouse', () => {
  it('stores, reads, lists, counts, names and deletes calls, and takes feedback about them', async () => {
    const { post, get } = await open()
    const start = {
      project_id,
      id: 'a',
      op_name: 'op',
      started_at,
      attributes: {},
      inputs: { n: 1 },
      thread_id: 't',
      turn_id: 'a',
    }
    expect((await post('/call/start', { start })).status).toBe(200)
    const end = { project_id, id: 'a', ended_at: '2026-01-01T10:00:02Z', output: 'é\ud800' }
    expect((await post('/call/end', { end })).status).toBe(200)
    await post('/call/update', { project_id, call_id: 'a', display_name: 'mine' })
    const { body } = await post('/call/read', { project_id, id: 'a' })
    expect(body.call).toMatchObject({ inputs: { n: 1 }, display_name: 'mine' })
    expect(body.call.summary.weave.latency_ms).toBe(2000)
    const weave_ref = `weave:///${project_id}/call/a`
    const feedback = { project_id, weave_ref, feedback_type: 't', payload: { n: 1 } }
    expect((await post('/traces/feedback/create', feedback)).status).toBe(200)
    const expr = { $gt: [{ $getField: 'feedback.[t].payload.n' }, { $literal: 0 }] }
    const listed = await post('/calls/stream_query', { project_id, query: { $expr: expr } })
    expect(JSON.parse(listed.text)).toMatchObject({ id: 'a', display_name: 'mine' })
    const window = { project_id, start: started_at, end: '2026-01-01T11:00:00Z' }
    const metrics = [{ metric: 'latency_ms', aggregations: ['max'], percentiles: [50] }]
    const stats = await post('/calls/stats', { ...window, call_metrics: metrics })
    expect(stats.body.call_buckets[0]).toMatchObject({ count: 1, max_latency_ms: 2000 })
    expect(stats.body.call_buckets[0].p50_latency_ms).toBe(2000)
    const threads = await post('/threads/stream_query', { project_id })
    expect(JSON.parse(threads.text)).toMatchObject({ thread_id: 't', turn_count: 1 })
    await post('/calls/delete', { project_id, call_ids: ['a'] })
    expect((await post('/call/read', { project_id, id: 'a' })).status).toBe(404)
    expect((await get('/ready')).status).toBe(200)
  })
})
