import { describe, expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { ReadCaller } from '../../src/domain/access/read-caller.ts'
import type { StatsQuery, StatsStore } from '../../src/store/api/stats/stats.ts'
import { authorizationFor, buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { readCaller } from '../support/read-caller.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { ask, COUNTS, countCalls, record, URL } from './support/stats-fixtures.ts'

/** Rows whose scan takes long enough to be met while it runs. */
function fillWithCalls(app: TestApp, calls: number): Promise<unknown> {
  const at = Date.UTC(2026, 0, 1, 10) * 1000
  return Promise.all(
    Array.from({ length: calls }, (_, index) =>
      app.deps.calls.startCall({
        project_id: 'acme/demo',
        id: `c${index}`,
        sent_trace_id: null,
        trace_id: `t${index}`,
        parent_id: null,
        thread_id: null,
        turn_id: null,
        op_name: 'op',
        display_name: null,
        svc_user_id: 'u',
        svc_username: 'u',
        svc_run_id: null,
        svc_run_step: null,
        end_user_id: null,
        attributes_json: '{}',
        inputs_json: '{}',
        otel_dump_json: null,
        input_refs: [],
        started_at_us: at + index,
        start_size_bytes: 4,
      }),
    ),
  )
}

const query: StatsQuery = {
  project_id: 'acme/demo',
  filter: {},
  startUs: 0,
  endUs: 4e15,
  usageColumns: [],
  startsUs: Float64Array.of(0),
  callColumns: [{ key: 'sum_call_count', metric: 'call_count', of: 'sum' }],
  prices: [],
  counting: 'own',
  valuesMax: 10,
}

describe('POST /calls/stats over readers', () => {
  it('statistics count a call at once after its acknowledgement', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    for (let made = 1; made <= 5; made++) {
      await record(app, { id: `c${made}` })
      expect(await countCalls(app)).toBe(made)
    }
  })

  it('statistics leave out deleted calls', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    await record(app, { id: 'kept', end: { summary: { usage: { kept: {} } } } })
    await record(app, { id: 'gone', end: { summary: { usage: { gone: {} } } } })
    await app.post('/calls/delete', { project_id: 'acme/demo', call_ids: ['gone'] })
    const { body } = await ask(app, { usage_metrics: [{ metric: 'input_tokens' }] })
    expect(body.call_buckets[0].count).toBe(1)
    expect(body.usage_buckets.map(({ model }: { model: string }) => model)).toEqual([
      'kept',
      'kept',
    ])
  })

  it('a refusal in the read thread reaches the client of POST /calls/stats', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const tooMany = app.deps.stats.aggregate({ ...query, valuesMax: 0 }, readCaller())
    await expect(tooMany).rejects.toMatchObject({
      code: 'validation_failed',
      param: 'granularity',
    })
  })

  it('the scan of a disconnected client is stopped', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir(), statsThreads: 1, readQueueMax: 8 })
    await fillWithCalls(app, 9000)
    const abort = new AbortController()
    const left = app.deps.stats.aggregate(query, readCaller({ signal: abort.signal }))
    abort.abort()
    await expect(left).rejects.toMatchObject({ code: 'client_closed_request' })
    const { calls } = await app.deps.stats.aggregate(query, readCaller())
    expect(calls?.values[0]?.[0]).toBe(9000)
  })

  it('statistics respond server_overloaded and Retry-After when the read queue is full', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir(), statsThreads: 1, readQueueMax: 1 })
    await fillWithCalls(app, 3000)
    const answers = await Promise.all(
      // Different questions, since equal ones share a read.
      Array.from({ length: 24 }, (_, i) => ask(app, { granularity: (i + 1) * 3600 })),
    )
    const refused = answers.filter(({ status }) => status === 503)
    const answered = answers.filter(({ status }) => status === 200)
    expect(refused.length + answered.length).toBe(answers.length)
    expect(answered.length).toBeGreaterThanOrEqual(2)
    expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(
      new Set(['server_overloaded']),
    )
    expect(refused[0]?.headers['retry-after']).toBe('1')
    expect((await ask(app)).status).toBe(200)
  })

  it('statistics respond read_timeout when the read takes too long', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir(), readTimeoutMs: 1 })
    const { status, body } = await ask(app)
    expect([status, body.error.code]).toEqual([503, 'read_timeout'])
  })
})

/** An app on a socket whose statistics never end by themselves, and what their signals say. */
async function listenWithEndlessStats() {
  const { config, deps, key } = await buildTestApp()
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const endless = (_query: unknown, { signal }: ReadCaller) =>
    new Promise<never>((_resolve, reject) => {
      started.resolve()
      signal.addEventListener('abort', () => {
        aborted.resolve(signal.reason)
        reject(signal.reason)
      })
    })
  const stats: StatsStore = { aggregate: endless, render: endless, group: endless }
  const app = await buildApp(config, { ...deps, stats })
  onTestFinished(() => app.close())
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const abort = new AbortController()
  const answer = fetch(address + URL, {
    method: 'POST',
    body: JSON.stringify(COUNTS),
    headers: { authorization: authorizationFor(URL, key), 'content-type': 'application/json' },
    signal: abort.signal,
  })
  await started.promise
  return { app, answer, leave: () => abort.abort(), aborted: aborted.promise }
}

describe('POST /calls/stats while it runs', () => {
  it('the statistics read is aborted when the client disconnects', async () => {
    const { answer, leave, aborted } = await listenWithEndlessStats()
    leave()
    await expect(answer).rejects.toThrow()
    expect(await aborted).toMatchObject({ code: 'client_closed_request' })
  })

  it("the statistics read is aborted at the end of the server's shutdown, not sooner", async () => {
    const { app, answer, aborted } = await listenWithEndlessStats()
    await app.close()
    const response = await answer
    const { error } = (await response.json()) as { error: { code: string } }
    expect([response.status, error.code]).toEqual([503, 'server_draining'])
    expect(await aborted).toMatchObject({ code: 'server_draining' })
  })
})
