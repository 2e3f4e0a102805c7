import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../../support/scripted-backend.ts'

const URL = '/v1/chat/completions'
const BODY = { messages: [{ role: 'user', content: 'hi' }] }

async function build(config: object, model: object = {}) {
  const backend = createScriptedBackend(HELLO)
  const models = scriptedModels({ backend, ...model })
  return { ...(await buildTestApp(config, { models })), backend }
}

describe('limits of a key', () => {
  it.each([false, true])(
    'the limits of a key are in the headers of every response, and exceeding them is 429, stream %s',
    async (stream) => {
      const { post, createKey, backend } = await build({ keyRequestsPerMinute: 1 })
      const key = await createKey({})
      const first = await post(URL, { ...BODY, stream }, { key })
      expect(first.status).toBe(200)
      expect(first.headers).toMatchObject({
        'x-ratelimit-limit-requests': '1',
        'x-ratelimit-remaining-requests': '0',
      })
      const second = await post(URL, { ...BODY, stream }, { key })
      expect([second.status, second.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(50)
      expect(Number(second.headers['retry-after-ms'])).toBeGreaterThan(50_000)
      expect(second.headers['x-ratelimit-limit-requests']).toBe('1')
      expect(backend.calls).toHaveLength(1)
      expect((await post(URL, BODY)).status).toBe(200)
    },
  )

  it('refused requests do not count against the limits of a key', async () => {
    const { post } = await build({ keyRequestsPerMinute: 1 })
    expect((await post(URL, { ...BODY, n: 0 })).status).toBe(400)
    expect((await post(URL, { ...BODY, model: 'nope' })).status).toBe(404)
    expect((await post(URL, BODY)).status).toBe(200)
  })

  it.each([false, true])(
    'the limits of a key count the tokens of responses, stream %s',
    async (stream) => {
      const { post } = await build({ keyTokensPerMinute: 5 })
      const first = await post(URL, { ...BODY, stream })
      expect(first.headers['x-ratelimit-remaining-tokens']).toBe('5')
      const second = await post(URL, { ...BODY, stream })
      expect([second.status, second.headers['x-ratelimit-remaining-tokens']]).toEqual([429, '0'])
    },
  )

  it('a key has limits and models of its own', async () => {
    const { get, post } = await build({ keyRequestsPerMinute: 100 })
    const rights = { svc_user_id: 'ada', scopes: ['inference'], projects: ['*'] }
    const make = async (more: object) =>
      (await post('/v1/keys', { ...rights, ...more })).body.secret
    const limited = await make({ requests_per_minute: 1 })
    expect((await post(URL, BODY, { key: limited })).headers).toMatchObject({
      'x-ratelimit-limit-requests': '1',
    })
    expect((await post(URL, BODY, { key: limited })).status).toBe(429)
    const { data } = (await get('/v1/models', { key: limited })).body
    const other = await make({ models: ['nothing-*'] })
    const refused = await post(URL, BODY, { key: other })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'model_forbidden'])
    expect((await get('/v1/models', { key: other })).body.data).toEqual([])
    const one = await make({ models: [data[0].id] })
    expect((await post(URL, { ...BODY, model: data[0].id }, { key: one })).status).toBe(200)
    expect((await get('/v1/models', { key: one })).body.data).toHaveLength(1)
  })

  it('a key without limits has no limit headers', async () => {
    const { post } = await build({})
    const { headers } = await post(URL, BODY)
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
  })
})

describe('places', () => {
  it.each([
    ['of a model', {}, { concurrentMax: 1 }],
    ['of a key', { keyCompletionsMax: 1 }, {}],
  ])('slots of %s are waited for', async (_name, config, model) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const backend = createScriptedBackend([promise, ...HELLO])
    const { post } = await build(config, { backend, ...model })
    const answers = [post(URL, BODY), post(URL, BODY)]
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    expect(backend.calls).toHaveLength(1)
    resolve()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('slots are assigned in order of the §4.3 priority where the model has priorities', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const backend = createScriptedBackend([promise, ...HELLO])
    const capabilities = { tools: false, prioritySchedulingEnabled: true }
    const { post } = await build({}, { backend, capabilities, concurrentMax: 1 })
    const first = post(URL, BODY)
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    const late = post(URL, { ...BODY, priority: 5 })
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    const early = post(URL, { ...BODY, priority: -5 })
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    resolve()
    await Promise.all([first, late, early])
    expect(backend.calls.map(({ request }) => request.priority)).toEqual([undefined, -5, 5])
  })
})
