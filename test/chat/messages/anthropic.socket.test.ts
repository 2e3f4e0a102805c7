/** The backend anthropic: messages that pass as they came, and chats that are translated in both directions. */
import { describe, expect, it } from 'vitest'
import { createModelRegistry } from '../../../src/inference/models/registry.ts'
import {
  answerMessage,
  anthropicModel,
  MESSAGE_BLOCKS,
  MESSAGE_EVENTS,
  MESSAGE_USAGE,
  WHOLE_MESSAGE,
} from '../../support/anthropic-model.ts'
import {
  type Behaviour,
  event,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer } from '../../support/model-server.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../../support/scripted-backend.ts'

const HI = { model: 'claude', max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }
const PROJECT = 'acme/demo'
type Options = Parameters<typeof anthropicModel>[1]

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
const readJson = (response: Response): Promise<any> => response.json()

async function start(behaviour: Behaviour = answerMessage(), options: Options = {}) {
  const upstream = await startFakeUpstream(behaviour)
  const model = anthropicModel(upstream.baseUrl, options)
  const server = await startModelServer(createModelRegistry([model], model))
  const asked = (at = 0) => JSON.parse(upstream.requests[at]?.body ?? 'null')
  const origin = server.baseUrl.replace(/\/v1$/, '')
  const send = (body: unknown, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'x-api-key': server.key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  async function readCall(response: Response) {
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => server.deps.calls.findCall(PROJECT, id)).not.toBeNull()
    const { body } = await server.post('/call/read', {
      project_id: PROJECT,
      id,
      include_costs: true,
    })
    return body.call
  }
  return { ...server, upstream, asked, send, readCall }
}

describe('a message at an engine that takes messages', () => {
  it('passes as it came but for the name of the model, and so does the response', async () => {
    const text = JSON.stringify(WHOLE_MESSAGE).replace('"a":1', '"a":9007199254740993')
    const { send, upstream } = await start(json(200, text))
    const sent = JSON.stringify({
      ...HI,
      unknown_field: 1,
      tools: [{ type: 'web_search_20250305' }],
    })
    const digits = sent.replace('"unknown_field":1', '"unknown_field":9007199254740993')
    const betas = { 'anthropic-beta': 'one-2026-01-01,two', 'anthropic-version': '2026-10-21' }
    const response = await send(digits, betas, '/anthropic/v1/messages?beta=true')
    expect(await response.text()).toBe(text)
    expect(response.headers.get('request-id')).toBeTruthy()
    const [request] = upstream.requests
    expect(request?.url).toBe('/v1/messages?beta=true')
    expect(request?.body).toBe(digits.replace('"claude"', '"claude-up"'))
    expect(request?.headers).toMatchObject({ 'x-api-key': 'sk-ant-secret', ...betas })
    expect(request?.headers.authorization).toBeUndefined()
  })

  it('is streamed with the data of its events unchanged, pings and unknown events included', async () => {
    const events = [
      ...MESSAGE_EVENTS.slice(0, 3),
      { type: 'new_event', n: 1 },
      ...MESSAGE_EVENTS.slice(3),
    ]
    const { send } = await start(answerMessage(events))
    const response = await send({ ...HI, stream: true })
    const expected = events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)
    expect(await response.text()).toBe(expected.join(''))
  })

  it.each([true, false])('is recorded and priced, streamed: %s', async (isStream) => {
    const { send, readCall } = await start()
    const sent = { ...HI, stream: isStream, metadata: { user_id: 'u' } }
    const response = await send(sent, { 'Compat-Project': PROJECT })
    await response.text()
    const call = await readCall(response)
    expect(call).toMatchObject({
      op_name: 'messages',
      inputs: { messages: HI.messages },
      output: {
        id: 'msg_up',
        content: MESSAGE_BLOCKS,
        stop_reason: 'tool_use',
        usage: MESSAGE_USAGE,
      },
      attributes: { backend: 'anthropic', provider: 'anthropic' },
    })
    expect(call.summary.usage.claude).toMatchObject(MESSAGE_USAGE)
    expect(call.summary.usage_ambiguous ?? []).toEqual([])
  })

  it('has its tokens counted there', async () => {
    const { send, upstream } = await start(json(200, { input_tokens: 42 }))
    const { max_tokens: _, ...prompt } = HI
    for (const query of ['', '?beta=true', '?beta=1&other=true']) {
      const response = await send(prompt, {}, `/v1/messages/count_tokens${query}`)
      expect(await response.json()).toEqual({ input_tokens: 42 })
    }
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      '/v1/messages/count_tokens',
      '/v1/messages/count_tokens?beta=true',
      '/v1/messages/count_tokens',
    ])
  })

  it.each([
    [529, 'overloaded_error', 529, 'overloaded_error'],
    [429, 'rate_limit_error', 429, 'rate_limit_error'],
    [400, 'invalid_request_error', 400, 'invalid_request_error'],
    [413, 'request_too_large', 413, 'request_too_large'],
    // The key of the server was refused, not that of the client.
    [401, 'authentication_error', 502, 'api_error'],
    [500, 'api_error', 502, 'api_error'],
  ])('that fails with %i %s answers %i %s', async (status, type, shown, shownType) => {
    const body = { type: 'error', error: { type, message: 'as told' }, request_id: 'req_1' }
    const { send, chat } = await start(json(status, body, { 'retry-after': '20' }))
    const response = await send(HI)
    expect(response.status).toBe(shown)
    const told = await readJson(response)
    expect(told).toMatchObject({ type: 'error', error: { type: shownType } })
    expect(told.request_id).toBe(response.headers.get('request-id'))
    if (status === 400) expect(told.error.message).toBe('as told')
    if (status === 429 || status === 529) expect(response.headers.get('retry-after')).toBe('20')
    if (status === 529) {
      const overloaded = await chat(HI)
      expect([overloaded.status, (await readJson(overloaded)).error.code]).toEqual([
        503,
        'upstream_overloaded',
      ])
    }
  })

  it.each([
    [
      'an error event',
      'overloaded_error',
      [event({ type: 'error', error: { type: 'overloaded_error', message: 'x' } })],
    ],
    ['silence', 'api_error', []],
  ])('whose stream ends with %s ends with an error event', async (_, type, end) => {
    const begun = MESSAGE_EVENTS.slice(0, 5).map(event)
    const { send } = await start(stream([...begun, ...end]))
    const text = await (await send({ ...HI, stream: true })).text()
    const last = text.trimEnd().split('\n\n').at(-1) ?? ''
    expect(last).toMatch(/^event: error\n/)
    expect(JSON.parse(last.split('data: ')[1] ?? '')).toMatchObject({
      type: 'error',
      error: { type },
    })
  })

  it('falls back to a model that is asked as a chat', async () => {
    const upstream = await startFakeUpstream(json(529, {}))
    const claude = { ...anthropicModel(upstream.baseUrl), fallbacks: ['scripted'] }
    const backend = createScriptedBackend(HELLO)
    const scripted = scriptedModels({ backend }).getModel('scripted')
    const server = await startModelServer(createModelRegistry([claude, scripted], claude))
    for (const isStream of [false, true]) {
      const answer = await server.post('/v1/messages', { ...HI, stream: isStream })
      expect(answer.status).toBe(200)
      expect(answer.headers['x-weft-backend']).toBe('scripted')
      expect(answer.text).toContain('"type":"text"')
    }
    expect(backend.calls[0]?.request.messages).toEqual(HI.messages)
  })
})

describe("a chat at Anthropic's API", () => {
  it('may begin with a byte order mark', async () => {
    const { chat, asked } = await start()
    expect((await chat(`\uFEFF${JSON.stringify(HI)}`)).status).toBe(200)
    expect(asked().model).toBe('claude-up')
  })

  const TOOL = {
    type: 'function',
    function: { name: 'f', description: 'd', parameters: { type: 'object' } },
  }

  it('is sent as a message with the headers of the models file', async () => {
    const { chat, asked, upstream } = await start(answerMessage(), {
      headers: { 'anthropic-beta': 'b-1' },
    })
    const response = await chat({
      model: 'claude',
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'brief', cache_control: { type: 'ephemeral' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: '',
          reasoning_details: [{ type: 'reasoning.text', text: 'why', signature: 'sig' }],
          tool_calls: [
            {
              id: 'call:1',
              type: 'function',
              function: { name: 'f', arguments: '{"n":9007199254740993}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call:1', content: 'done' },
        { role: 'developer', content: 'later' },
      ],
      stop: 'END',
      tools: [TOOL],
      tool_choice: 'required',
      parallel_tool_calls: false,
      user: 'u',
      reasoning_effort: 'minimal',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { type: 'object' } },
      },
      prompt_cache_key: 'k',
      top_k: 3,
    })
    expect(response.status, await response.text()).toBe(200)
    expect(upstream.requests[0]?.headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'b-1',
    })
    expect(upstream.requests[0]?.body).toContain('"n":9007199254740993')
    expect(asked()).toEqual({
      model: 'claude-up',
      max_tokens: 8192,
      system: [{ type: 'text', text: 'brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'why', signature: 'sig' },
            { type: 'tool_use', id: 'call_1', name: 'f', input: { n: Number('9007199254740993') } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [{ type: 'text', text: 'done' }],
            },
            { type: 'text', text: 'later' },
          ],
        },
      ],
      top_k: 3,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
      thinking: { type: 'adaptive' },
    })
  })

  const DETAILS = [
    { type: 'reasoning.text', text: 'why', signature: 'sig' },
    { type: 'reasoning.encrypted', data: 'sealed' },
  ]
  const USAGE = {
    prompt_tokens: 125,
    completion_tokens: 7,
    total_tokens: 132,
    prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
  }

  it('is answered as a completion with the signatures of the thinking', async () => {
    const { chat } = await start()
    const body = await readJson(await chat({ model: 'claude', messages: HI.messages }))
    expect(body).toMatchObject({ id: 'msg_up', object: 'chat.completion', usage: USAGE })
    expect(body.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello',
          refusal: null,
          reasoning: 'why',
          reasoning_content: 'why',
          reasoning_details: DETAILS,
          thinking_blocks: MESSAGE_BLOCKS.slice(0, 2),
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ])
  })

  it.each([true, false])('is streamed as chunks, usage included: %s', async (include_usage) => {
    const { chat } = await start()
    const sent = {
      model: 'claude',
      messages: HI.messages,
      stream: true,
      stream_options: { include_usage },
    }
    const data = eventsOf(await (await chat(sent)).text())
    expect(data.at(-1)).toBe('[DONE]')
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text))
    const deltas = chunks.flatMap(({ choices }) =>
      choices.map((choice: { delta: object }) => choice.delta),
    )
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning: 'why', reasoning_content: 'why' },
      { reasoning_details: DETAILS.slice(0, 1) },
      { reasoning_details: DETAILS.slice(1) },
      { content: 'Hel' },
      { content: 'lo' },
      {
        tool_calls: [
          { index: 0, id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      {},
    ])
    const usages = chunks.flatMap(({ usage }) => (usage ? [usage] : []))
    expect(usages).toEqual(include_usage ? [USAGE] : [])
  })

  it('of the Responses API is served, too', async () => {
    const { post } = await start()
    const { body } = await post('/v1/responses', { model: 'claude', input: 'hi' })
    expect(body.output.map(({ type }: { type: string }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
    ])
    expect(body.usage).toMatchObject({ input_tokens: 125, output_tokens: 7 })
  })

  it.each([
    ['seed', { seed: 1 }],
    ['n', { n: 2 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    ],
  ])('is refused by name for %s', async (param, more) => {
    const { chat, upstream } = await start()
    const response = await chat({ model: 'claude', messages: HI.messages, ...more })
    expect(response.status).toBe(400)
    expect((await readJson(response)).error.param).toBe(param)
    expect(upstream.requests).toHaveLength(0)
  })

  it('has thinking within its limit of tokens at models with budgets', async () => {
    const { chat, asked } = await start(answerMessage(), { thinking: 'budget' })
    const sent = { model: 'claude', messages: HI.messages, reasoning_effort: 'medium' }
    await (await chat({ ...sent, max_completion_tokens: 4000 })).text()
    expect(asked()).toMatchObject({
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })
    const response = await chat({ ...sent, max_completion_tokens: 1000 })
    expect((await readJson(response)).error.param).toBe('reasoning_effort')
  })
})
