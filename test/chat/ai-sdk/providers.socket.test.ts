/** Chats at six provider packages of the AI SDK, each against a server that speaks the format of its provider. */
import { describe, expect, it } from 'vitest'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import { type Behaviour, json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer } from '../../support/model-server.ts'
import { aiSdkModel, SECRET } from './ai-sdk-model.ts'
import { answerProvider, WIRE_NAMES, WIRES, type WireName } from './provider-wires.ts'

type Options = Parameters<typeof aiSdkModel>[2]
const PROJECT = 'acme/demo'
const MESSAGES = [{ role: 'user', content: 'hi' }]
const TOOL = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape.
type Anything = any

async function start(name: WireName, behaviour?: Behaviour, options: Options = {}) {
  const upstream = await startFakeUpstream(behaviour ?? answerProvider(name))
  const model = aiSdkModel(name, upstream.baseUrl, options)
  const server = await startModelServer(createModelRegistry([model], model))
  const sent = (at = 0): Anything => JSON.parse(upstream.requests[at]?.body ?? 'null')
  async function ask(request: object, headers: Record<string, string> = {}) {
    const response = await server.chat(
      { model: 'served', messages: MESSAGES, ...request },
      { headers },
    )
    const text = await response.text()
    const chunks: Anything[] = eventsOf(text)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data))
    const body: Anything = text.startsWith('{') ? JSON.parse(text) : null
    return { status: response.status, headers: response.headers, text, chunks, body }
  }
  return { ...server, upstream, sent, ask }
}

/** The message that chunks amount to. */
function join(chunks: readonly Anything[]) {
  const deltas = chunks.flatMap(({ choices }) => choices.map((choice: Anything) => choice.delta))
  const texts = (name: string) => deltas.map((delta) => delta[name] ?? '').join('')
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? [])
  return {
    content: texts('content'),
    reasoning: texts('reasoning'),
    details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
    names: calls.flatMap(({ function: called }) => called?.name ?? []),
    arguments: calls.map(({ function: called }) => called?.arguments ?? '').join(''),
    finish: chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason,
    usage: chunks.at(-1)?.usage,
  }
}

const KEYS: Readonly<Record<WireName, string>> = {
  google: 'x-goog-api-key',
  mistral: 'authorization',
  groq: 'authorization',
  cohere: 'authorization',
  xai: 'authorization',
  'amazon-bedrock': 'authorization',
}
const PATHS: Readonly<Record<WireName, readonly [whole: string, stream: string]>> = {
  google: ['/v1/models/m-up:generateContent', '/v1/models/m-up:streamGenerateContent?alt=sse'],
  mistral: ['/v1/chat/completions', '/v1/chat/completions'],
  groq: ['/v1/chat/completions', '/v1/chat/completions'],
  cohere: ['/v1/chat', '/v1/chat'],
  xai: ['/v1/responses', '/v1/responses'],
  'amazon-bedrock': ['/v1/model/m-up/converse', '/v1/model/m-up/converse-stream'],
}

/** Members of the usage that the interface gives for each package, with 100 tokens of input and 10 of output. */
const USAGE: Readonly<Record<WireName, object>> = {
  google: {
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
  mistral: { prompt_tokens_details: { cached_tokens: 40 } },
  groq: {
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
  cohere: {},
  xai: {
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
  'amazon-bedrock': { prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 } },
}
const COUNTS = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

describe.each(WIRE_NAMES)('a chat at %s', (name) => {
  it('is answered whole with text, reasoning, a call and usage', async () => {
    const { ask, upstream } = await start(name)
    const { status, body } = await ask({ tools: [TOOL] })
    expect(status).toBe(200)
    const [choice] = body.choices
    expect(choice).toMatchObject({ index: 0, finish_reason: 'tool_calls' })
    expect(choice.message).toMatchObject({ content: 'Hello', reasoning: 'why' })
    expect(choice.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
    ])
    expect(body.usage).toEqual({ ...COUNTS, ...USAGE[name] })
    expect(upstream.requests.map(({ url }) => url)).toEqual([PATHS[name][0]])
    expect(upstream.requests[0]?.headers[KEYS[name]]).toContain(SECRET)
  })

  it('is streamed in order, with its usage only for a client that requests it', async () => {
    const { ask, upstream } = await start(name)
    for (const include_usage of [false, true]) {
      const { chunks, text } = await ask({
        tools: [TOOL],
        stream: true,
        stream_options: { include_usage },
      })
      const joined = join(chunks)
      expect(joined).toMatchObject({
        content: 'Hello',
        reasoning: 'why',
        names: ['f'],
        arguments: '{"a":1}',
        finish: 'tool_calls',
      })
      expect(joined.usage).toEqual(include_usage ? { ...COUNTS, ...USAGE[name] } : undefined)
      expect(text.trimEnd().endsWith('[DONE]')).toBe(true)
    }
    expect(upstream.requests.map(({ url }) => url)).toEqual([PATHS[name][1], PATHS[name][1]])
    expect(upstream.connectionCount()).toBe(1)
  })

  it('is recorded with its usage and the provider of the price list', async () => {
    const { ask, deps, post } = await start(name)
    const { headers } = await ask({ stream: true }, { 'Compat-Project': PROJECT })
    const id = String(headers.get('x-weft-call-id'))
    await expect.poll(() => deps.calls.findCall(PROJECT, id)).not.toBeNull()
    const { body } = await post('/call/read', { project_id: PROJECT, id })
    const provider = { xai: 'x-ai', 'amazon-bedrock': 'aws' }[name as string] ?? name
    expect(body.call).toMatchObject({ attributes: { backend: 'ai-sdk', provider } })
    expect(body.call.summary.usage.served).toMatchObject(COUNTS)
  })

  it('goes on with the call and its result, and with what the provider needs again', async () => {
    const { ask, sent } = await start(name)
    const first = await ask({ tools: [TOOL] })
    const { message } = first.body.choices[0]
    const [call] = message.tool_calls
    const result = { role: 'tool', tool_call_id: call.id, content: 'two' }
    const second = await ask({ messages: [...MESSAGES, message, result], tools: [TOOL] })
    expect(second.status).toBe(200)
    const text = JSON.stringify(sent(1))
    expect(text).toContain('two')
    const kept = { google: 'c2ln', xai: 'sealed', 'amazon-bedrock': '"sig"' }[name as string]
    if (kept !== undefined) expect(text).toContain(kept)
    if (name === 'mistral' || name === 'groq') expect(text).toContain('why')
  })

  it.each([
    [400, 400, 'invalid_value'],
    [401, 502, 'upstream_auth'],
    [429, 429, 'upstream_rate_limited'],
    [500, 502, 'upstream_error'],
  ])('that fails with %i answers %i %s', async (status, shown, code) => {
    const fail = json(status, WIRES[name].error, { 'retry-after': '20' })
    const { ask, upstream } = await start(name, fail)
    for (const stream of [false, true]) {
      const { status: told, body, headers, text } = await ask({ stream })
      expect([told, body.error.code]).toEqual([shown, code])
      if (status === 400) expect(body.error.message).toBe('as told')
      if (status === 429) expect(headers.get('retry-after')).toBe('20')
      expect(text).not.toContain(SECRET)
    }
    expect(upstream.requests).toHaveLength(2)
  })

  it('that breaks off after some text ends with an error', async () => {
    const { pieces } = WIRES[name]
    const { ask } = await start(name, answerProvider(name, pieces.slice(0, -3)))
    const { text, chunks } = await ask({ stream: true })
    expect(join(chunks.filter(({ choices }) => choices)).finish ?? null).toBeNull()
    expect(text).toContain('"code":"upstream_error"')
  })

  it('is refused by name before it is sent where the package lacks a field, or the field is dropped', async () => {
    const fields = { top_k: 3, seed: 1, presence_penalty: 1, frequency_penalty: 1, stop: ['x'] }
    const lacking: Readonly<Record<WireName, readonly string[]>> = {
      google: ['presence_penalty', 'frequency_penalty'],
      mistral: ['top_k'],
      groq: ['top_k'],
      cohere: [],
      xai: ['presence_penalty', 'frequency_penalty', 'stop'],
      'amazon-bedrock': ['seed', 'presence_penalty', 'frequency_penalty'],
    }
    // Some models of a package lack what others have.
    const model = name === 'google' ? 'gemini-2.5-pro' : 'm-up'
    const strict = await start(name, undefined, { model })
    const refused: string[] = []
    for (const [field, value] of Object.entries(fields)) {
      const { status, body } = await strict.ask({ [field]: value })
      if (status !== 200) refused.push(body.error.param)
    }
    expect(refused).toEqual(Object.keys(fields).filter((field) => lacking[name].includes(field)))
    expect(strict.upstream.requests).toHaveLength(Object.keys(fields).length - refused.length)
    const lenient = await start(name, undefined, { model, unsupported: 'drop' })
    const { status, headers } = await lenient.ask(fields)
    expect(status).toBe(200)
    const dropped = headers.get('x-weft-dropped-fields')?.split(', ') ?? []
    expect(dropped.sort()).toEqual([...lacking[name]].sort())
  })

  it('takes a system message after other messages', async () => {
    const { ask, sent } = await start(name)
    const later = [
      { role: 'system', content: 'rules' },
      ...MESSAGES,
      { role: 'system', content: 'later' },
    ]
    expect((await ask({ messages: later })).status).toBe(200)
    expect(JSON.stringify(sent())).toContain('later')
  })

  it('takes an image as data, and no address that the provider would not fetch', async () => {
    const { ask, sent } = await start(name)
    const image = (url: string) => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    })
    expect((await ask(image('data:image/png;base64,iVBORw0KGgo='))).status).toBe(200)
    expect(JSON.stringify(sent())).toContain('iVBORw0KGgo=')
    const remote = await ask(image('https://files.example/a.png'))
    const fetches = name === 'groq' || name === 'cohere' || name === 'xai'
    expect(remote.status).toBe(fetches ? 200 : 400)
    if (!fetches) expect(remote.body.error.param).toBe('messages[0].content[0].image_url')
  })
})
