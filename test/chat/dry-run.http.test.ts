import { describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/config.ts'
import { createOpenAiBackend } from '../../src/inference/openai/backend.ts'
import { SYSTEM_CLOCK } from '../../src/inference/openai/upstream/targets.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { hello } from '../support/upstream-answers.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hi' }] }
const TIMEOUTS = { connect: 1000, first_byte: 5000, idle: 5000, total: 10_000 }

/** Serves `far` at a broken upstream and a working one, and its fallbacks: `near` and one that is gone. */
async function build(config: Partial<Config> = {}) {
  const broken = await startFakeUpstream(json(503, { error: { message: 'broken' } }))
  const working = await startFakeUpstream(hello)
  const near = createScriptedBackend(HELLO, { seed: 'rejected' })
  const far = createOpenAiBackend({
    upstreams: [broken, working].map(({ baseUrl }, index) => ({
      baseUrl,
      apiKey: null,
      ca: null,
      proxies: null,
      weight: 5 - index,
    })),
    clock: { ...SYSTEM_CLOCK, nowMs: () => 0 },
    timeoutMs: TIMEOUTS,
  })
  const models = scriptedModels(
    { id: 'far', backend: far, fallbacks: ['near', 'gone'], fallbackOn: ['content_filter'] },
    { id: 'near', backend: near },
  )
  onTestFinished(() => models.close())
  const app = await buildTestApp(config, { models })
  return { ...app, near, working, broken, address: new URL(broken.baseUrl).host }
}

describe('POST /v1/route', () => {
  it('reports the model, its upstreams in their order, and why fallbacks are skipped', async () => {
    const { post, near, working, broken, address } = await build()
    const before = await post('/v1/route', { ...CHAT, seed: 1 })
    expect(before).toMatchObject({
      status: 200,
      body: {
        object: 'route',
        model: 'far',
        refusal: null,
        fallback_on: ['content_filter'],
        candidates: [
          { model: 'far', engine: 'generic', refusal: null },
          { model: 'near', refusal: { code: 'unsupported_parameter', param: 'seed' } },
          { model: 'gone', engine: null, refusal: { code: 'model_not_found' }, upstreams: [] },
        ],
      },
    })
    expect(before.body.candidates[0].upstreams).toEqual([
      { number: 1, weight: 5, failures: 0, rests_ms: 0 },
      { number: 2, weight: 4, failures: 0, rests_ms: 0 },
    ])
    expect([near.calls, working.requests, broken.requests]).toEqual([[], [], []])
    expect(before.text).not.toContain(address)
  })

  it('reports the upstream that rests last, with the rest of its back-off', async () => {
    const { post } = await build()
    await post('/v1/chat/completions', CHAT)
    const { body } = await post('/v1/route', CHAT)
    expect(body.candidates[0].upstreams).toEqual([
      { number: 2, weight: 4, failures: 0, rests_ms: 0 },
      { number: 1, weight: 5, failures: 1, rests_ms: 1000 },
    ])
  })

  it('reports the refusal of the asked model', async () => {
    const { post } = await build()
    const { status, body } = await post('/v1/route', { ...CHAT, model: 'near', seed: 1 })
    expect([status, body.model, body.refusal.code]).toEqual([200, null, 'unsupported_parameter'])
    expect(body.candidates).toMatchObject([{ model: 'near', refusal: body.refusal }])
  })

  it('takes nothing of a limit, records nothing, and reports a limit that is used up', async () => {
    const { post } = await build({ keyRequestsPerMinute: 1 })
    const headers = { 'compat-project': 'acme/demo' }
    const asked = { ...CHAT, model: 'near' }
    for (let time = 0; time < 2; time++) {
      expect((await post('/v1/route', asked, { headers })).body.model).toBe('near')
    }
    expect((await post('/calls/query_stats', { project_id: 'acme/demo' })).body.count).toBe(0)
    expect((await post('/v1/chat/completions', asked)).status).toBe(200)
    const { body } = await post('/v1/route', asked)
    expect([body.model, body.refusal.code]).toEqual([null, 'rate_limit_exceeded'])
  })

  it('refuses an unknown model, an invalid body and a key without the scope as a completion does', async () => {
    const { post, createKey } = await build()
    const key = await createKey({ scopes: ['traces:read'] })
    for (const [body, options] of [
      [{ ...CHAT, model: 'none' }, {}],
      [{ messages: 1 }, {}],
      [CHAT, { key }],
    ] as const) {
      const refused = await post('/v1/route', body, options)
      const completion = await post('/v1/chat/completions', body, options)
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect([refused.status, refused.body]).toEqual([completion.status, completion.body])
    }
  })
})
