/** The connections of packages of the AI SDK: limits, other addresses, errors inside streams, and what clients return. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadProviderFactory } from '../../../src/inference/ai-sdk/package.ts'
import { createProviderFetch } from '../../../src/inference/ai-sdk/provider-fetch.ts'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import { type Behaviour, event, startFakeUpstream } from '../../support/fake-upstream.ts'
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../../support/localhost-certificate.ts'
import { startModelServer, TIMEOUT_MS } from '../../support/model-server.ts'
import { aiSdkModel, SECRET } from './ai-sdk-model.ts'
import { frame } from './item-wires.ts'
import { answerProvider, WIRES, type WireName } from './provider-wires.ts'

const HI = { model: 'served', messages: [{ role: 'user', content: 'hi' }] }
async function start(
  name: WireName,
  behaviour: Behaviour = answerProvider(name),
  options: Parameters<typeof aiSdkModel>[2] = {},
  secure: Parameters<typeof startFakeUpstream>[1] = null,
) {
  const upstream = await startFakeUpstream(behaviour, secure)
  const model = aiSdkModel(name, upstream.baseUrl, options)
  return { upstream, ...(await startModelServer(createModelRegistry([model], model))) }
}

describe('an error inside a stream', () => {
  const begun = (name: WireName) => WIRES[name].pieces.slice(0, name === 'cohere' ? 6 : 3)

  it.each([
    [
      'google',
      [event({ error: { code: 503, message: 'full', status: 'UNAVAILABLE' } })],
      'upstream_error',
    ],
    ['mistral', [event({ object: 'error', message: 'full', code: '3505' })], 'upstream_'],
    ['groq', [event({ error: { message: 'full', type: 'internal_server_error' } })], 'upstream_'],
    ['cohere', [event({ message: 'full' })], 'upstream_'],
    ['xai', [event({ type: 'error', code: 'x', message: 'full' })], 'upstream_'],
    [
      'amazon-bedrock',
      [frame('throttlingException', { message: 'slow' }, 'exception')],
      'upstream_rate_limited',
    ],
  ] as const)('of %s ends it with an error', async (name, pieces, code) => {
    const all = [...begun(name), ...pieces]
    const { chat } = await start(name, answerProvider(name, all))
    const text = await (await chat({ ...HI, stream: true })).text()
    expect(text).toContain(`"code":"${code}`)
    expect(text).not.toMatch(/"finish_reason":"/)
  })

  it('that is only an event which the package does not know is none', async () => {
    const pieces = [...WIRES.xai.pieces]
    pieces.splice(3, 0, event({ type: 'response.brand_new', sequence_number: 99, n: 1 }))
    const { chat } = await start('xai', answerProvider('xai', pieces))
    const text = await (await chat({ ...HI, stream: true })).text()
    expect(text).toContain('"finish_reason":"tool_calls"')
  })
})

describe('a request of a package', () => {
  it('goes with the key of the models file, whatever variables of the process say', async () => {
    const names = ['GOOGLE_GENERATIVE_AI_API_KEY', 'GROQ_API_KEY', 'AWS_BEARER_TOKEN_BEDROCK']
    for (const name of names) process.env[name] = 'stray'
    onTestFinished(() => {
      for (const name of names) delete process.env[name]
    })
    for (const name of ['google', 'groq', 'amazon-bedrock'] as const) {
      const { chat, upstream } = await start(name)
      await (await chat(HI)).text()
      const headers = JSON.stringify(upstream.requests[0]?.headers)
      expect(headers).toContain(SECRET)
      expect(headers).not.toContain('stray')
    }
  })

  it('keeps requests apart that run at once', async () => {
    const { chat, upstream } = await start('groq')
    const ids = ['one', 'two', 'three']
    await Promise.all(
      ids.map(async (request_id) => (await chat({ ...HI, request_id, stream: true })).text()),
    )
    expect(upstream.requests.map(({ headers }) => headers['x-request-id']).sort()).toHaveLength(3)
    expect(new Set(upstream.requests.map(({ headers }) => headers['x-request-id'])).size).toBe(3)
  })

  it('trusts a certificate of its own where its CA is given', async () => {
    const secure = { key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE }
    const trusting = await start('groq', undefined, { ca: LOCALHOST_CERTIFICATE }, secure)
    expect((await trusting.chat(HI)).status).toBe(200)
    const other = await start('groq', undefined, {}, secure)
    expect((await other.chat(HI)).status).toBe(502)
  })

  it('has its response decompressed', async () => {
    const { chat } = await start('groq', (response) => {
      const bytes = gzipSync(JSON.stringify(WIRES.groq.whole))
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      response.writeHead(200, headers).end(bytes)
    })
    expect(await (await chat(HI)).text()).toContain('Hello')
  })

  it('reads at most 64 MiB of a whole response', async () => {
    const { chat } = await start('groq', async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = Buffer.alloc(1024 * 1024, 32)
      for (let count = 0; count < 66 && !response.destroyed; count++) {
        await new Promise((resolve) => response.write(piece, resolve))
      }
      response.end(JSON.stringify(WIRES.groq.whole))
    })
    const response = await chat(HI)
    const message = 'The upstream sent an answer that is too large.'
    const error = { code: 'upstream_invalid_response', message }
    expect(await response.json()).toMatchObject({ error })
  })

  it('goes to the address of the models file alone', async () => {
    const other = await startFakeUpstream()
    const own = await startFakeUpstream()
    const limits = { timeoutMs: TIMEOUT_MS, ca: null, proxies: null }
    const call = {
      requestId: 'r',
      signal: new AbortController().signal,
      isStream: false,
      failure: null,
    }
    const given = createProviderFetch({ baseUrl: own.baseUrl, ...limits })
    onTestFinished(() => given.close())
    await given.run(call, () => given.fetch(`${own.baseUrl}/x`))
    await expect(given.run(call, () => given.fetch(`${other.baseUrl}/x`))).rejects.toThrow()
    const free = createProviderFetch({ baseUrl: null, ...limits })
    onTestFinished(() => free.close())
    await expect(free.run(call, () => free.fetch(`${own.baseUrl}/x`))).rejects.toThrow()
    await expect(own.requests).toHaveLength(1)
    expect(other.requests).toHaveLength(0)
  })
})

describe('Azure', () => {
  const packageName = '@ai-sdk/azure'
  const create = loadProviderFactory({ name: packageName, folders: [import.meta.dirname] })

  it('is asked for responses, and for chats by the method of its package', async () => {
    const responses = await start('xai', undefined, { packageName, create })
    expect(await (await responses.chat(HI)).text()).toContain('Hello')
    expect(responses.upstream.requests[0]?.url).toBe('/v1/responses')
    expect(responses.upstream.requests[0]?.headers['api-key']).toBe(SECRET)
    expect(responses.upstream.requests[0]?.body).toContain('"store":false')
    const chats = await start('groq', undefined, { packageName, create, method: 'chat' })
    expect(await (await chats.chat({ ...HI, stop: 'x' })).text()).toContain('Hello')
    expect(chats.upstream.requests[0]?.body).toContain('"stop":["x"]')
  })

  it('is not asked for an effort of which the package sends nothing, without a warning', async () => {
    const { chat, upstream } = await start('xai', undefined, { packageName, create })
    const response = await chat({ ...HI, reasoning_effort: 'low' })
    expect(await response.json()).toMatchObject({ error: { param: 'reasoning_effort' } })
    expect(upstream.requests).toHaveLength(0)
    const providerOptions = { azure: { forceReasoning: true } }
    const forced = await start('xai', undefined, { packageName, create, providerOptions })
    expect((await forced.chat({ ...HI, reasoning_effort: 'low' })).status).toBe(200)
    expect(forced.upstream.requests[0]?.body).toContain('"effort":"low"')
  })
})

describe('a Messages client', () => {
  it('is told of a field that the package leaves out, where the model drops such fields', async () => {
    const { post } = await start('groq', undefined, { unsupported: 'drop' })
    const { headers } = await post('/v1/messages', { ...HI, max_tokens: 9, top_k: 3 })
    expect(headers['x-weft-dropped-fields']).toBe('top_k')
  })

  it.each(['google', 'amazon-bedrock', 'xai'] as const)(
    'returns what %s needs again, in blocks of thinking',
    async (name) => {
      const { post, upstream } = await start(name)
      const tools = [{ name: 'f', input_schema: { type: 'object' } }]
      const thinking = { type: 'adaptive' }
      const asked = { model: 'served', max_tokens: 20_000, thinking, tools }
      const first = await post('/v1/messages', {
        ...asked,
        messages: HI.messages,
      })
      expect(first.status).toBe(200)
      const { content } = first.body
      const call = content.find((block: { type: string }) => block.type === 'tool_use')
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'two' }
      const second = await post('/v1/messages', {
        ...asked,
        messages: [
          ...HI.messages,
          { role: 'assistant', content },
          { role: 'user', content: [result] },
        ],
      })
      expect(second.status).toBe(200)
      const kept = { google: 'c2ln', xai: 'sealed', 'amazon-bedrock': '"sig"' }[name]
      expect(upstream.requests[1]?.body).toContain(kept)
    },
  )
})
