import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { createModelLatencies } from '../../src/inference/chat/track-completion.ts'
import { createModelRegistry } from '../../src/inference/models/registry.ts'
import { createOpenAiBackend } from '../../src/inference/openai/backend.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'

/** Other settings than the usual ones make an app of the test's own, whose models nobody has asked before. */
const OWN = { drainTimeoutMs: 60 }
const CHAT = { messages: [{ role: 'user', content: 'Hi' }] }
const TIMEOUTS = { connect: 1000, first_byte: 5000, idle: 5000, total: 10_000 }

describe('GET /v1/backends', () => {
  it('reports which backend answers for a model, how often and how fast, whole or streamed', async () => {
    const { get, post } = await buildTestApp(OWN)
    const [before] = (await get('/v1/backends')).body.data
    expect(before).toMatchObject({
      id: 'tiny',
      engine: 'tiny',
      upstreams: [],
      answers: 0,
      failures: 0,
      first_ms_p50: null,
      total_ms_p95: null,
      last_answer_at: null,
      last_failure: null,
    })
    await post('/v1/chat/completions', { ...CHAT, max_tokens: 2 })
    await post('/v1/chat/completions', { ...CHAT, max_tokens: 2, stream: true })
    const [after] = (await get('/v1/backends')).body.data
    expect(after).toMatchObject({ answers: 2, failures: 0, last_answer_at: expect.any(String) })
    expect(after.first_ms_p50).toBeGreaterThan(0)
    expect(after.total_ms_p95).toBeGreaterThanOrEqual(after.first_ms_p95)
  })

  it('reports failures and upstreams, without the query of their addresses', async () => {
    const upstream = await startFakeUpstream(json(500, { error: { message: 'broken' } }))
    const backend = createOpenAiBackend({
      upstreams: [
        { baseUrl: `${upstream.baseUrl}?key=hidden`, apiKey: null, ca: null, proxies: null },
      ],
      timeoutMs: TIMEOUTS,
    })
    const model = {
      id: 'far',
      aliases: ['other'],
      ownedBy: 'weft',
      created: 0,
      fallbacks: [],
      capabilities: { tools: false, prioritySchedulingEnabled: false },
      backendModel: 'far',
      backend,
    }
    const models = createModelRegistry([model], model)
    const { get, post } = await buildTestApp(OWN, { models })
    expect((await post('/v1/chat/completions', CHAT)).status).toBe(502)
    const { body, text } = await get('/v1/backends')
    expect(body.data[0]).toMatchObject({
      id: 'far',
      aliases: ['other'],
      engine: 'generic',
      answers: 0,
      failures: 1,
      upstreams: [{ number: 1, address: upstream.baseUrl, requests: 0 }],
      last_failure: { code: expect.stringMatching(/^upstream_/), at: expect.stringMatching(/Z$/) },
    })
    expect(body.data[0].upstreams[0].failures).toBeGreaterThan(0)
    expect(text).not.toContain('hidden')
    await models.close()
  })
})

describe('the latencies of models', () => {
  it('are those of the last answers, and count no fault of a client', () => {
    const latencies = createModelLatencies(() => 7)
    const add = (error: unknown, firstMs = 0) =>
      latencies.add('m', { error, firstMs, totalMs: firstMs + 1000 })
    for (let at = 1; at <= 600; at++) add(null, at)
    add(new ApiError('context_length_exceeded'))
    add(new DOMException('left', 'AbortError'))
    const figures = latencies.read().get('m')
    expect([figures?.answers, figures?.failures, figures?.firstMs.length]).toEqual([600, 0, 500])
    expect([figures?.firstMs[0], figures?.firstMs.at(-1), figures?.totalMs[0]]).toEqual([
      101, 600, 1101,
    ])
    add(new ApiError('upstream_timeout'))
    expect(latencies.read().get('m')).toMatchObject({
      failures: 1,
      lastFailure: { code: 'upstream_timeout', atMs: 7 },
    })
  })
})
