import { describe, expect, it } from 'vitest'
import { ApiError, ERRORS } from '../../src/errors.ts'
import { ENDED, STARTED } from '../calls/call-fixtures.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { basic, buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { claim, createJobs, finish, report } from '../training/worker-fixtures.ts'
import { parseMetrics } from './support/parse-metrics.ts'

const ASKED = { messages: [{ role: 'user', content: 'What is 3 plus 4?' }], max_tokens: 4 }
const CHAT = '/v1/chat/completions'

/** Scrapes, and finds values by the name and labels of a sample. */
async function scrape({ get, key }: TestApp) {
  const { text } = await get('/metrics', { headers: { authorization: `Bearer ${key}` } })
  const metrics = parseMetrics(text)
  const samples = [...metrics.values()].flatMap((metric) => metric.samples)
  const value = (name: string, labels: Record<string, string> = {}) =>
    samples
      .filter((sample) => sample.name === name)
      .filter((sample) =>
        Object.entries(labels).every(([label, is]) => sample.labels[label] === is),
      )
      .reduce((sum, sample) => sum + sample.value, 0)
  return { metrics, samples, value }
}

describe('GET /metrics', () => {
  it('is for keys with the scope metrics, as Bearer and as Basic, whatever their projects', async () => {
    const { app, createKey } = await buildTestApp()
    const send = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization }
      const { statusCode, headers: told } = await app.inject({ url: '/metrics', headers })
      return [statusCode, told['content-type']]
    }
    const key = await createKey({ scopes: ['metrics'], projects: ['acme/demo'] })
    const other = await createKey({
      scopes: ['traces:read', 'traces:write', 'inference', 'training', 'worker'],
    })
    const ok = [200, 'text/plain; version=0.0.4; charset=utf-8']
    expect(await send(`Bearer ${key}`)).toEqual(ok)
    expect(await send(basic(key))).toEqual(ok)
    expect(await send(basic(await createKey({ scopes: ['admin'] })))).toEqual(ok)
    expect((await send())[0]).toBe(401)
    expect((await send('Bearer wrong'))[0]).toBe(401)
    expect((await send(`Bearer ${other}`))[0]).toBe(403)
  })

  it('gives a key of this scope nothing else', async () => {
    const { get, post, createKey } = await buildTestApp()
    const key = await createKey({ scopes: ['metrics'] })
    for (const answer of [
      post('/call/start', { start: STARTED }, { key }),
      post('/call/read', { project_id: 'acme/demo', id: 'c' }, { key }),
      post(CHAT, ASKED, { key }),
      get('/v1/keys', { key }),
      get('/v1/backends', { key }),
    ]) {
      expect((await answer).body.error.code).toBe('scope_missing')
    }
  })

  it('counts calls that were stored, and what was refused by its code', async () => {
    const testApp = await buildTestApp()
    const { post } = testApp
    await post('/call/start', { start: { ...STARTED, id: 'call-1' } })
    await post('/call/end', { end: ENDED })
    await post('/call/upsert_batch', {
      batch: [
        { mode: 'start', req: { start: { ...STARTED, id: 'b-1', trace_id: 't' } } },
        { mode: 'end', req: { end: { ...ENDED, id: 'b-1' } } },
        { mode: 'start', req: { start: { ...STARTED, id: 'call-1', op_name: 'other' } } },
      ],
    })
    await post('/call/start', { start: { ...STARTED, op_name: 7 } })
    await post('/call/start', { start: STARTED }, { key: 'wrong' })
    const { value } = await scrape(testApp)
    const requests = 'weft_http_request_duration_seconds_count'
    const route = '/call/start'
    expect(value(requests, { route, method: 'POST', status: '2xx' })).toBe(1)
    expect(value(requests, { route, method: 'POST', status: '4xx' })).toBe(2)
    expect(value('weft_call_parts_stored_total', { part: 'start' })).toBe(2)
    expect(value('weft_call_parts_stored_total', { part: 'end' })).toBe(2)
    expect(value('weft_refusals_total', { code: 'validation_failed' })).toBe(1)
    expect(value('weft_refusals_total', { code: 'invalid_api_key' })).toBe(1)
    expect(value('weft_commit_writes_sum')).toBeGreaterThanOrEqual(3)
    expect(value('weft_commit_duration_seconds_count')).toBeGreaterThan(0)
    expect(value('weft_writes_waiting', { store: 'sqlite' })).toBe(0)
  })

  it('counts writes that a full queue refuses', async () => {
    const testApp = await buildTestApp({ ingestQueueMax: 1 })
    const sent = ['a', 'b', 'c'].map((id) =>
      testApp.post('/call/start', { start: { ...STARTED, id } }),
    )
    const refused = (await Promise.all(sent)).filter(({ status }) => status === 503).length
    const { value } = await scrape(testApp)
    expect(refused).toBeGreaterThan(0)
    expect(value('weft_writes_refused_total', { store: 'sqlite' })).toBe(refused)
    expect(value('weft_refusals_total', { code: 'server_overloaded' })).toBe(refused)
    expect(value('weft_call_parts_stored_total', { part: 'start' })).toBe(3 - refused)
  })

  it('counts spans that were stored as spans alone, and none that were refused', async () => {
    const testApp = await buildTestApp()
    const spans = [buildSpan(), buildSpan({ span_id: spanId(2) })]
    const headers = { project_id: 'acme/demo' }
    expect((await testApp.post('/v1/traces', toJsonRequest(spans), { headers })).status).toBe(200)
    expect((await testApp.post('/v1/traces', toJsonRequest(spans))).status).toBe(400)
    const { value } = await scrape(testApp)
    expect(value('weft_spans_stored_total')).toBe(2)
    expect(value('weft_call_parts_stored_total', { part: 'start' })).toBe(0)
    expect(value('weft_refusals_total', { code: 'otlp_project_missing' })).toBe(1)
  })

  it('reports waiting and running training jobs, and counts the actions of workers', async () => {
    const testApp = await buildTestApp()
    await createJobs(testApp, 3)
    await finish(testApp, await claim(testApp))
    await report(testApp, await claim(testApp), 'release')
    await claim(testApp)
    const { value } = await scrape(testApp)
    expect(value('weft_training_jobs', { state: 'queued' })).toBe(1)
    expect(value('weft_training_jobs', { state: 'running' })).toBe(1)
    expect(value('weft_training_claims_total')).toBe(3)
    expect(value('weft_training_attempts_total', { end: 'succeeded' })).toBe(1)
    expect(value('weft_training_attempts_total', { end: 'released' })).toBe(1)
  })

  it('counts heavy reads', async () => {
    const testApp = await buildTestApp()
    await testApp.post('/calls/stream_query', { project_id: 'acme/demo' })
    const { value } = await scrape(testApp)
    expect(value('weft_read_duration_seconds_count', { kind: 'lists' })).toBeGreaterThan(0)
    expect(value('weft_reads_running')).toBe(0)
  })
})

describe('completions in /metrics', () => {
  it('count what tiny answers, whole and as a stream', async () => {
    const testApp = await buildTestApp()
    const { body } = await testApp.post(CHAT, ASKED)
    await testApp.post(CHAT, { ...ASKED, stream: true })
    const { value } = await scrape(testApp)
    const { prompt_tokens, completion_tokens } = body.usage
    expect(value('weft_completions_total', { model: 'tiny', outcome: 'ok' })).toBe(2)
    expect(value('weft_completion_duration_seconds_count', { stream: 'true' })).toBe(1)
    expect(value('weft_completion_first_event_seconds_count', { model: 'tiny' })).toBe(1)
    expect(value('weft_completion_tokens_total', { direction: 'in' })).toBe(2 * prompt_tokens)
    expect(value('weft_completion_tokens_total', { direction: 'out' })).toBe(2 * completion_tokens)
    expect(value('weft_completion_streams_open')).toBe(0)
    expect(value('weft_completion_overhead_seconds_count')).toBe(0)
  })

  it('count a model that fails, and the fallback that answers', async () => {
    const failing = createScriptedBackend([new ApiError('upstream_error')])
    const models = scriptedModels(
      { backend: failing, fallbacks: ['scripted-1'] },
      { backend: createScriptedBackend(HELLO) },
      { backend: failing },
    )
    const testApp = await buildTestApp({}, { models })
    expect((await testApp.post(CHAT, ASKED)).status).toBe(200)
    expect((await testApp.post(CHAT, { ...ASKED, model: 'scripted-2' })).status).toBe(502)
    const { value } = await scrape(testApp)
    expect(value('weft_completion_fallbacks_total', { model: 'scripted' })).toBe(1)
    expect(value('weft_completions_total', { model: 'scripted-1', outcome: 'ok' })).toBe(1)
    const failed = { model: 'scripted-2', outcome: 'upstream_error' }
    expect(value('weft_completions_total', failed)).toBe(1)
    expect(value('weft_completions_total')).toBe(2)
    expect(value('weft_refusals_total', { code: 'upstream_error' })).toBe(1)
  })
})

it('has the metrics of the disk without a sample for a database in memory', async () => {
  const { metrics } = await scrape(await buildTestApp())
  expect(metrics.get('weft_database_bytes')).toMatchObject({ type: 'gauge', samples: [] })
  expect(metrics.get('weft_completions_refused_total')).toMatchObject({
    type: 'counter',
    samples: [{ value: 0 }],
  })
})

describe('labels', () => {
  it('contain no text from clients: no paths, methods, models or keys', async () => {
    const testApp = await buildTestApp()
    const { app, post, get, key } = testApp
    const authorization = `Bearer ${key}`
    await app.inject({ url: '/hostile/path', headers: { authorization } })
    await app.inject({ url: '/hostile%0aline"quote', headers: { authorization } })
    for (const method of ['PATCH', 'OPTIONS', 'DELETE'] as const) {
      await app.inject({ method, url: '/call/start', headers: { authorization } })
    }
    await post(CHAT, { ...ASKED, model: 'hostile-model' })
    await post('/call/start', { start: { ...STARTED, project_id: 'hostile/project' } })
    await get('/v1/models/hostile-name')
    await get('/traces/hostile/path')
    const { samples } = await scrape(testApp)
    const own = samples.filter(({ name }) => name.startsWith('weft_'))
    expect(JSON.stringify(own)).not.toMatch(/hostile|acme|wk_/)
    const valuesOf = (label: string) => new Set(own.flatMap(({ labels }) => labels[label] ?? []))
    for (const method of valuesOf('method')) {
      expect(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'other']).toContain(method)
    }
    for (const route of valuesOf('route')) expect(route).toMatch(/^(?:unknown|\/\S*)$/)
    for (const code of valuesOf('code')) expect(ERRORS).toHaveProperty(code)
    expect([...valuesOf('model')].filter((model) => model !== 'tiny')).toEqual([])
  })
})
