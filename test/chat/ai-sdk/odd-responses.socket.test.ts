/** What packages of the AI SDK do beside their interface: limits that they raise, broken streams, errors and embeddings. */
import { describe, expect, it } from 'vitest'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import {
  type Behaviour,
  event,
  json,
  reset,
  silence,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, TIMEOUT_MS } from '../../support/model-server.ts'
import { aiSdkModel, SECRET } from './ai-sdk-model.ts'
import { answerProvider, type WireName } from './provider-wires.ts'

const HI = { model: 'served', messages: [{ role: 'user', content: 'hi' }] }

// biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape.
type Anything = any

async function start(
  name: WireName,
  behaviour: Behaviour = answerProvider(name),
  options: Parameters<typeof aiSdkModel>[2] = {},
) {
  const upstream = await startFakeUpstream(behaviour)
  const model = aiSdkModel(name, upstream.baseUrl, options)
  const server = await startModelServer(createModelRegistry([model], model))
  const sent = (at = 0): Anything => JSON.parse(upstream.requests[at]?.body ?? 'null')
  async function ask(request: object) {
    const response = await server.chat({ ...HI, ...request })
    const text = await response.text()
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : null }
  }
  return { ...server, upstream, sent, ask }
}

describe('the limit of tokens', () => {
  const model = 'anthropic.claude-haiku-4-5-20251001-v1:0'

  it('holds although the package adds the budget of reasoning to it', async () => {
    const { ask, sent } = await start('amazon-bedrock', undefined, { model })
    const { status } = await ask({ max_tokens: 50_000, reasoning_effort: 'low' })
    expect(status).toBe(200)
    expect(sent().inferenceConfig.maxTokens).toBe(50_000)
    const { budget_tokens } = sent().additionalModelRequestFields.thinking
    expect(budget_tokens).toBeLessThan(50_000)
  })

  it('refuses an effort that leaves nothing of it, before anything is sent', async () => {
    const { ask, upstream } = await start('amazon-bedrock', undefined, { model })
    const { status, body } = await ask({ max_tokens: 100, reasoning_effort: 'low' })
    expect([status, body.error.param]).toEqual([400, 'reasoning_effort'])
    expect(body.error.message).toMatch(/max_completion_tokens above \d+/)
    expect(upstream.requests).toHaveLength(0)
  })
})

describe('a value that a package changes or loses', () => {
  it.each([
    ['amazon-bedrock', { temperature: 1.5 }, 'temperature'],
    ['amazon-bedrock', { response_format: { type: 'json_object' } }, 'response_format'],
    ['cohere', { parallel_tool_calls: false }, 'parallel_tool_calls'],
    ['google', { n: 2 }, 'n'],
    ['google', { logprobs: true }, 'logprobs'],
  ] as const)('is refused at %s: %o', async (name, fields, param) => {
    const { ask, upstream } = await start(name)
    const { status, body } = await ask(fields)
    expect([status, body.error.param]).toEqual([400, param])
    expect(upstream.requests).toHaveLength(0)
  })

  it.each([
    ['groq', { parallel_tool_calls: false }],
    ['mistral', { parallel_tool_calls: false }],
    ['xai', { parallel_tool_calls: false }],
  ] as const)('is sent where %s has an option for it', async (name, body) => {
    const { ask, sent } = await start(name)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    expect((await ask({ ...body, tools })).status).toBe(200)
    expect(sent().parallel_tool_calls).toBe(false)
  })

  it('is a file that is no image at cohere', async () => {
    const { ask } = await start('cohere')
    const file = { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' }
    const { status, body } = await ask({
      messages: [{ role: 'user', content: [{ type: 'file', file }] }],
    })
    expect([status, body.error.param]).toEqual([400, 'messages[0].content[0].file.file_data'])
  })

  it.each(['groq', 'amazon-bedrock'] as const)(
    'is a kind of file that %s refuses, which is not sent',
    async (name) => {
      const input_audio = { data: 'UklGRg==', format: 'wav' }
      const content = [{ type: 'input_audio', input_audio }]
      const { ask, upstream } = await start(name)
      const { status, body } = await ask({ messages: [{ role: 'user', content }] })
      expect([status, body.error.code]).toEqual([400, 'unsupported_value'])
      expect(upstream.requests).toHaveLength(0)
    },
  )

  it('is not stored by the provider, whatever the models file says', async () => {
    const providerOptions = { xai: { store: true, logprobs: true } }
    const { ask, sent } = await start('xai', undefined, { providerOptions })
    expect((await ask({})).status).toBe(200)
    expect(sent()).toMatchObject({ store: false, logprobs: true })
  })

  it('is a schema, which passes', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const { ask, sent } = await start('google')
    const format = { type: 'json_schema', json_schema: { name: 'n', schema } }
    expect((await ask({ response_format: format })).status).toBe(200)
    expect(sent().generationConfig).toMatchObject({ responseMimeType: 'application/json' })
  })
})

describe('a stream', () => {
  const text = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ ...text, choices: [{ index: 0, delta, finish_reason }] })

  it.each([
    ['is empty', stream([])],
    ['breaks off', stream([chunk({ content: 'a' })])],
    ['is cut', stream([chunk({ content: 'a' })], 'cut')],
    [
      'reports an error',
      stream([chunk({ content: 'a' }), event({ error: { message: 'm', type: 't' } })]),
    ],
  ])('that %s never looks whole', async (_, behaviour) => {
    const { ask } = await start('groq', behaviour)
    const { text: told } = await ask({ stream: true })
    expect(told).toMatch(/"code":"upstream_(?:error|invalid_response)"/)
    expect(told).not.toContain('"finish_reason":"stop"')
  })

  it('whose first event is an error is answered with its status', async () => {
    const error = { error: { code: 503, message: 'full', status: 'UNAVAILABLE' } }
    const { ask, upstream } = await start('google', stream([event(error)]))
    const { status, body } = await ask({ stream: true })
    expect([status, body.error.type]).toEqual([502, 'upstream_error'])
    expect(upstream.requests.length).toBeGreaterThanOrEqual(1)
  })

  it('that is silent ends with its timeout', async () => {
    const timeoutMs = { ...TIMEOUT_MS, first_byte: 50 }
    const { ask } = await start('groq', silence, { timeoutMs })
    expect((await ask({ stream: true })).body.error.code).toBe('upstream_timeout')
  })

  it('of a client that leaves is cut at the provider', async () => {
    const { chat, upstream } = await start('groq', stream([chunk({ content: 'a' })], 'hang'))
    const leaving = new AbortController()
    const response = await chat({ ...HI, stream: true }, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    expect(await upstream.requests[0]?.closed).toEqual({ isAnswered: false })
  })
})

describe('a failure', () => {
  it('of a wrong key is not told as a fault of the client, although Google answers 400', async () => {
    const error = {
      error: {
        code: 400,
        message: `API key ${SECRET} not valid.`,
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'API_KEY_INVALID' }],
      },
    }
    const { ask } = await start('google', json(400, JSON.stringify(error)))
    const { status, body, text } = await ask({})
    expect([status, body.error.code]).toEqual([502, 'upstream_auth'])
    expect(text).not.toContain(SECRET)
  })

  it('with a wait in the details of the error has it as Retry-After', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }]
    const error = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } }
    const { chat } = await start('google', json(429, error))
    const response = await chat(HI)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '34'])
  })

  it('of 503 is tried again, and one of a short wait', async () => {
    let count = 0
    const whole = answerProvider('mistral')
    const { ask, upstream } = await start('mistral', (response, request) => {
      count += 1
      return (count === 1 ? json(503, {}) : whole)(response, request)
    })
    expect((await ask({})).status).toBe(200)
    expect(upstream.requests).toHaveLength(2)
  })

  it.each([
    ['a page of HTML', json(200, '<html>')],
    ['a redirect', json(302, {}, { location: 'http://127.0.0.1:9/' })],
    ['a lost connection', reset],
  ])('is %s', async (_, behaviour) => {
    const { ask, upstream } = await start('cohere', behaviour)
    const { status, body } = await ask({})
    expect(status).toBe(502)
    expect(body.error.code).toMatch(/^upstream_/)
    expect(upstream.requests).toHaveLength(1)
  })

  it('repeats neither the key nor the address in the words of the provider', async () => {
    const words = { message: `bad key ${SECRET} at http://10.0.0.1/x` }
    const { ask } = await start('cohere', json(400, words))
    const { body } = await ask({})
    expect(body.error.message).toBe('bad key [key] at [address]')
  })
})

describe('embeddings', () => {
  const offers = ['embeddings'] as const

  it.each([
    ['google', { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] }, undefined],
    [
      'mistral',
      {
        object: 'list',
        model: 'm',
        data: [{ embedding: [1, 2] }, { embedding: [3, 4] }],
        usage: { prompt_tokens: 5, total_tokens: 5 },
      },
      5,
    ],
    [
      'cohere',
      {
        embeddings: {
          float: [
            [1, 2],
            [3, 4],
          ],
        },
        meta: { billed_units: { input_tokens: 5 } },
      },
      5,
    ],
  ] as const)('of %s have the form of chats', async (name, answer, tokens) => {
    const { post } = await start(name, json(200, answer), { offers })
    const { status, body } = await post('/v1/embeddings', { model: 'served', input: ['a', 'b'] })
    expect(status).toBe(200)
    expect(body.data).toEqual([
      { object: 'embedding', index: 0, embedding: [1, 2] },
      { object: 'embedding', index: 1, embedding: [3, 4] },
    ])
    expect(body.usage?.prompt_tokens).toBe(tokens)
  })

  it('of a package with one text for each request are asked one after another, also as base64', async () => {
    const { post, upstream } = await start(
      'amazon-bedrock',
      json(200, { embedding: [1, -2], inputTextTokenCount: 2 }),
      { offers, model: 'amazon.titan-embed-text-v2:0' },
    )
    const asked = { model: 'served', input: ['a', 'b'], encoding_format: 'base64' }
    const { body } = await post('/v1/embeddings', asked)
    const bytes = Buffer.from(body.data[1].embedding, 'base64')
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([1, -2])
    expect(body.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    expect(upstream.requests).toHaveLength(2)
  })

  it('take texts only', async () => {
    const { post } = await start('mistral', json(200, {}), { offers })
    const { status, body } = await post('/v1/embeddings', { model: 'served', input: [1, 2] })
    expect([status, body.error.param]).toEqual([400, 'input'])
  })

  it('are missing in a package that has none', async () => {
    expect(() => aiSdkModel('groq', 'http://127.0.0.1:9/v1', { offers })).toThrow(
      'has no embeddings; leave them out of capabilities',
    )
  })
})
