import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import type { ServedModel } from '../../../src/inference/models/registry.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { eventsOf } from '../../support/model-server.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const URL = '/v1/chat/completions'
const MESSAGES = [{ role: 'user', content: 'hi' }]
const PROJECT = { 'Compat-Project': 'acme/demo' }
const CACHE = { ttlS: 60, isAutomatic: true, revision: 'r' }

async function open(
  cache: ServedModel['cache'] | null = CACHE,
  script: readonly Step[] = HELLO,
  config: object = {},
) {
  const backend = createScriptedBackend(script)
  const capabilities = { tools: true, prioritySchedulingEnabled: false }
  const cached = cache === null ? {} : { cache }
  const models = scriptedModels({ backend, capabilities, aliases: ['nick'], ...cached })
  const test = await buildTestApp(config, { models })
  const ask = (body: object = {}, headers: Record<string, string> = {}, url = URL) =>
    test.post(url, 'input' in body || 'inputs' in body ? body : { messages: MESSAGES, ...body }, {
      headers,
    })
  /** Asks until the response is stored, which happens after it was sent. */
  async function warm(body: object = {}, headers: Record<string, string> = {}, url = URL) {
    const first = await ask(body, headers, url)
    await expect
      .poll(async () => (await ask(body, headers, url)).headers['x-weft-cache'])
      .toBe('hit')
    return first
  }
  return { ...test, backend, ask, warm }
}

describe('a model with a cache', () => {
  it('answers the same request once, and every later one alike', async () => {
    const { ask, warm, backend } = await open()
    const first = await warm()
    expect(first.headers['x-weft-cache']).toBe('miss')
    const count = backend.calls.length
    const again = await ask({ model: 'nick', n: 1, user: 'u', temperature: null })
    expect(again.headers).toMatchObject({ 'x-weft-cache': 'hit', age: '0' })
    expect(again.headers['x-weft-backend']).toBe('scripted')
    expect(again.body.choices).toEqual(first.body.choices)
    expect(backend.calls).toHaveLength(count)
  })

  it('replays a stream whole, and whole responses as streams', async () => {
    const { ask, warm, backend } = await open()
    await warm({ stream: true })
    const count = backend.calls.length
    const whole = await ask()
    expect(whole.body.choices[0].message.content).toBe('Hello')
    const { text } = await ask({ stream: true, stream_options: { include_usage: true } })
    const chunks = eventsOf(text)
      .slice(0, -1)
      .map((json) => JSON.parse(json))
    const said = chunks.flatMap(({ choices }) =>
      choices.map((one: { delta: { content?: string } }) => one.delta.content ?? ''),
    )
    expect(said.join('')).toBe('Hello')
    expect(chunks.at(-1).usage).toEqual(whole.body.usage)
    expect(backend.calls).toHaveLength(count)
  })

  it('shares completions between chats, responses, messages and traced completions', async () => {
    const { warm, ask, backend } = await open()
    await warm({}, PROJECT)
    const count = backend.calls.length
    const response = await ask({ input: 'hi' }, PROJECT, '/v1/responses')
    expect(response.headers['x-weft-cache']).toBe('hit')
    expect(response.body.output[0].content[0].text).toBe('Hello')
    const inputs = { model: 'scripted', messages: MESSAGES }
    const traced = await ask({ project_id: 'acme/demo', inputs }, {}, '/completions/create')
    expect(traced.headers['x-weft-cache']).toBe('hit')
    expect(backend.calls).toHaveLength(count)
    await warm({ max_tokens: 9, model: 'scripted' }, PROJECT, '/v1/messages')
    const chat = await ask({ max_tokens: 9 }, PROJECT)
    expect([chat.headers['x-weft-cache'], chat.body.choices[0].message.content]).toEqual([
      'hit',
      'Hello',
    ])
  })

  it.each([
    ['another text', { messages: [{ role: 'user', content: 'ho' }] }],
    ['another seed', { seed: 2 }],
    ['more choices', { n: 2 }],
    ['a salt', { cache_salt: 's' }],
  ])('has a completion of its own for %s', async (_, body) => {
    const { warm, ask } = await open()
    await warm()
    expect((await ask(body)).headers['x-weft-cache']).toBe('miss')
  })

  it('never answers one project, or one key without a project, with what another got', async () => {
    const { warm, ask, post, createKey } = await open()
    await warm({}, PROJECT)
    expect((await ask({}, { 'Compat-Project': 'acme/other' })).headers['x-weft-cache']).toBe('miss')
    expect((await ask()).headers['x-weft-cache']).toBe('miss')
    await warm()
    const key = await createKey({})
    const other = await post(URL, { messages: MESSAGES }, { key })
    expect(other.headers['x-weft-cache']).toBe('miss')
    const shared = await post(URL, { messages: MESSAGES }, { key, headers: PROJECT })
    expect(shared.headers['x-weft-cache']).toBe('hit')
  })

  it('records a hit as a call without usage', async () => {
    const { warm, ask, post } = await open()
    await warm({}, PROJECT)
    const { headers } = await ask({}, PROJECT)
    const read = () =>
      post('/call/read', { project_id: 'acme/demo', id: String(headers['x-weft-call-id']) })
    await expect.poll(async () => (await read()).status).toBe(200)
    const { call } = (await read()).body
    expect(call.attributes).toMatchObject({ cache: 'hit', model: 'scripted' })
    expect(call.output.choices[0].message.content).toBe('Hello')
    expect(call.summary.usage).toBeUndefined()
  })

  it('charges a hit no tokens', async () => {
    const { warm, ask } = await open(CACHE, HELLO, { keyTokensPerMinute: 1_000 })
    await warm()
    const before = (await ask()).headers['x-ratelimit-remaining-tokens']
    await ask()
    const after = (await ask()).headers['x-ratelimit-remaining-tokens']
    expect(Number(after)).toBeGreaterThanOrEqual(Number(before))
  })

  it.each([
    ['that was cut by its limit', [prompt(), piece('Hel'), finish({ finish_reason: 'length' })]],
    ['that failed', [prompt(), piece('Hel'), new ApiError('upstream_error')]],
    ['that lacks its end', [prompt(), piece('Hel')]],
  ])('never caches a completion %s', async (_, script) => {
    const { ask, deps } = await open(CACHE, script)
    const stored: unknown[] = []
    const { storeCompletion } = deps.completionCache
    Object.assign(deps.completionCache, {
      storeCompletion: (...given: Parameters<typeof storeCompletion>) => stored.push(given),
    })
    await ask()
    await ask({ stream: true })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(stored).toEqual([])
  })

  it.each([
    ['no-store', 'bypass'],
    ['no-cache', 'miss'],
    ['max-age=0, no-store', 'bypass'],
    ['max-age=100', 'hit'],
    ['only-if-cached', 'hit'],
  ])('takes Cache-Control: %s as a %s', async (directive, outcome) => {
    const { warm, ask } = await open()
    await warm()
    const { headers } = await ask({}, { 'cache-control': directive })
    expect(headers['x-weft-cache']).toBe(outcome)
  })

  it('is used only on request in the mode requested, and by no header without an entry', async () => {
    const on = { 'x-weft-cache': 'on' }
    const asked = await open({ ...CACHE, isAutomatic: false })
    expect((await asked.ask()).headers['x-weft-cache']).toBe('bypass')
    await asked.warm({}, on)
    expect((await asked.ask()).headers['x-weft-cache']).toBe('bypass')
    const without = await open(null)
    expect((await without.ask()).headers['x-weft-cache']).toBeUndefined()
    expect((await without.ask({}, on)).headers['x-weft-cache']).toBe('bypass')
    expect((await without.ask({}, { 'x-weft-cache': 'maybe' })).body.error).toMatchObject({
      code: 'invalid_header',
      message: 'X-Weft-Cache must be on or off.',
    })
  })

  it('answers from the model while the cache fails', async () => {
    const { ask, deps } = await open()
    const fail = async () => {
      throw new ApiError('store_unavailable')
    }
    Object.assign(deps.completionCache, { findCompletion: fail, storeCompletion: fail })
    const { status, headers } = await ask()
    expect([status, headers['x-weft-cache']]).toEqual([200, 'miss'])
  })
})
