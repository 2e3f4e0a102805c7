import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  logprob,
  piece,
  prompt,
  type ScriptedBackend,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

const URL = '/v1/chat/completions'
const MESSAGES = [{ role: 'user', content: 'hi' }]

async function buildChatApp(
  script: readonly Step[] = HELLO,
  { backend = createScriptedBackend(script), model = {}, config = {} } = {},
) {
  const models = scriptedModels({ backend, aliases: ['nick'], ...model })
  return { ...(await buildTestApp(config, { models })), backend }
}

function expectUntouched(backend: ScriptedBackend): void {
  expect(backend.calls).toEqual([])
}

describe('POST /v1/chat/completions', () => {
  describe('200', () => {
    it('a completion is returned whole', async () => {
      const { post } = await buildChatApp()
      const { status, body, headers } = await post(URL, { messages: MESSAGES })
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(body).toMatchObject({
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' } }],
      })
    })

    it.each([
      ['§4.3 response model', { model: 'scripted' }],
      ['§4.3 response choices', { choices: [expect.anything(), expect.anything()] }],
      ['§4.3 response usage', { usage: expect.any(Object) }],
      ['§4.3 response id', { id: 'chatcmpl-req-1' }],
      ['§4.3 response object', { object: 'chat.completion' }],
      ['§4.3 response created', { created: expect.any(Number) }],
      ['§4.3 choice index', { choices: [{ index: 0 }, { index: 1 }] }],
      ['§4.3 choice message', { choices: [{ message: expect.any(Object) }, {}] }],
      ['§4.3 choice logprobs', { choices: [{ logprobs: { content: [logprob('A', -1)] } }, {}] }],
      [
        '§4.3 choice finish_reason',
        { choices: [{ finish_reason: 'stop' }, { finish_reason: 'length' }] },
      ],
      ['§4.3 choice stop_reason', { choices: [{ stop_reason: 17 }, { stop_reason: null }] }],
      ['§4.3 message role', { choices: [{ message: { role: 'assistant' } }, {}] }],
      [
        '§4.3 message content',
        { choices: [{ message: { content: 'A' } }, { message: { content: 'B' } }] },
      ],
      ['§4.3 message refusal', { choices: [{ message: { refusal: null } }, {}] }],
      ['§4.3 usage prompt_tokens', { usage: { prompt_tokens: 5 } }],
      ['§4.3 usage completion_tokens', { usage: { completion_tokens: 2 } }],
      ['§4.3 usage total_tokens', { usage: { total_tokens: 7 } }],
      [
        '§4.3 usage prompt_tokens_details',
        { usage: { prompt_tokens_details: { cached_tokens: 4 } } },
      ],
    ])('default %s is filled in', async (_row, expected) => {
      const { post } = await buildChatApp([
        prompt(5, 4),
        piece('B', { index: 1 }),
        piece('A', { logprobs: [logprob('A', -1)] }),
        finish({ stop_reason: 17 }),
        finish({ index: 1, finish_reason: 'length' }),
      ])
      const { body } = await post(URL, { messages: MESSAGES, n: 2, request_id: 'req-1' })
      expect(body).toMatchObject(expected)
    })

    it('serves §9 trailing slash without a redirect', async () => {
      const { post } = await buildChatApp()
      expect((await post(`${URL}/`, { messages: MESSAGES })).status).toBe(200)
    })

    it.each([
      ['no model', undefined, 'scripted'],
      ['null', null, 'scripted'],
      ['the id', 'scripted', 'scripted'],
      ['an alias', 'nick', 'nick'],
    ])(
      '%s is accepted as the model, and the response has that name',
      async (_name, model, answered) => {
        const { post, backend } = await buildChatApp()
        const { body } = await post(URL, { messages: MESSAGES, model })
        expect(body.model).toBe(answered)
        expect(backend.calls[0]?.model).toBe('backend-name')
      },
    )

    it('the backend gets the received text and the parsed request', async () => {
      const { post, backend } = await buildChatApp()
      const text =
        '{ "messages": [{"role":"user","content":"hi"}], "seed": 9223372036854775807, "x": 1.0 }'
      await post(URL, text)
      expect(backend.calls[0]?.body).toBe(text)
      expect(backend.calls[0]?.request.messages).toEqual(MESSAGES)
    })

    it.each([
      ['the header', { 'x-request-id': 'from-header' }, 'from-body', 'from-header'],
      ['the body', {}, 'from-body', 'from-body'],
      [
        'the body when the header is malformed',
        { 'x-request-id': 'a b' },
        'from-body',
        'from-body',
      ],
    ])('the request id is that of %s', async (_name, headers, request_id, expected) => {
      const { post, backend } = await buildChatApp()
      const answer = await post(URL, { messages: MESSAGES, request_id }, { headers })
      expect(answer.body.id).toBe(`chatcmpl-${expected}`)
      expect(answer.headers['x-request-id']).toBe(expected)
      expect(backend.calls[0]?.requestId).toBe(expected)
    })

    it('a request without an id gets one', async () => {
      const { post } = await buildChatApp()
      const { body, headers } = await post(URL, { messages: MESSAGES })
      expect(body.id).toMatch(/^chatcmpl-[0-9a-f-]{36}$/)
      expect(body.id).toBe(`chatcmpl-${headers['x-request-id']}`)
    })

    it('relayed responses are passed byte by byte', async () => {
      const json = '{ "choices" : [], "n":9223372036854775807, "x":1.0,"é":"\\u00e9" }'
      const { post } = await buildChatApp([{ type: 'relayed', texts: [{ json, value: {} }] }])
      expect((await post(URL, { messages: MESSAGES })).text).toBe(json)
    })

    it.each(['Compat-Project', 'OpenAI-Project'])('the project is read from %s', async (name) => {
      const { post, createKey } = await buildChatApp()
      const key = await createKey({ projects: ['acme/demo'] })
      const options = { key, headers: { [name]: 'acme/demo' } }
      expect((await post(URL, { messages: MESSAGES }, options)).status).toBe(200)
    })
  })

  describe('400', () => {
    it.each([
      ['messages missing', {}, 'messages', 'missing_required_parameter'],
      ['messages null', { messages: null }, 'messages', 'invalid_value'],
      ['messages empty', { messages: [] }, 'messages', 'invalid_value'],
      [
        'temperature a string',
        { messages: MESSAGES, temperature: 'hot' },
        'temperature',
        'invalid_value',
      ],
      ['n out of range', { messages: MESSAGES, n: 0 }, 'n', 'invalid_value'],
      [
        'a message without a role',
        { messages: [{}] },
        'messages[0].role',
        'missing_required_parameter',
      ],
      [
        'request_id malformed',
        { messages: MESSAGES, request_id: 'a b' },
        'request_id',
        'invalid_value',
      ],
      [
        '§7 1: priority without scheduling',
        { messages: MESSAGES, priority: 1 },
        'priority',
        'priority_unsupported',
      ],
      [
        '§7 2: both ways to open the turn',
        { messages: MESSAGES, continue_final_message: true, add_generation_prompt: true },
        'continue_final_message',
        'invalid_value',
      ],
      [
        'tools for a model without',
        { messages: MESSAGES, tool_choice: 'auto' },
        'tool_choice',
        'unsupported_value',
      ],
    ])('refuses %s', async (_name, body, param, code) => {
      const { post, backend } = await buildChatApp()
      const { status, body: answer } = await post(URL, body)
      expect(status).toBe(400)
      expect(answer.error).toMatchObject({ type: 'invalid_request_error', param, code })
      expectUntouched(backend)
    })

    it('a priority is accepted where the model has scheduling, §7 1', async () => {
      const capabilities = { tools: false, prioritySchedulingEnabled: true }
      const { post } = await buildChatApp(HELLO, { model: { capabilities } })
      expect((await post(URL, { messages: MESSAGES, priority: 1 })).status).toBe(200)
    })

    it('the error names the field that the backend rejects', async () => {
      const backend = createScriptedBackend(HELLO, { top_k: 'rejected' })
      const { post } = await buildChatApp(HELLO, { backend })
      const { status, body } = await post(URL, { messages: MESSAGES, top_k: 5 })
      expect(status).toBe(400)
      expect(body.error).toMatchObject({ code: 'unsupported_parameter', param: 'top_k' })
      expect(body.error.message).toContain('scripted')
      expectUntouched(backend)
    })

    it('invalid JSON is refused', async () => {
      const { post, backend } = await buildChatApp()
      const { status, body } = await post(URL, '{"messages":')
      expect([status, body.error.code]).toEqual([400, 'invalid_json'])
      expectUntouched(backend)
    })

    it.each(['Compat-Project', 'OpenAI-Project'])('a malformed %s is refused', async (name) => {
      const { post, backend } = await buildChatApp()
      const { status, body } = await post(
        URL,
        { messages: MESSAGES },
        { headers: { [name]: 'proj_1' } },
      )
      expect(status).toBe(400)
      expect(body.error).toMatchObject({ code: 'invalid_header', param: name })
      expectUntouched(backend)
    })
  })

  it.each([
    ['no key', { key: null }, 401, 'missing_api_key'],
    ['a wrong key', { key: 'wk_nope' }, 401, 'invalid_api_key'],
    ['Basic credentials', { headers: { authorization: 'Basic YTpi' } }, 401, 'invalid_api_key'],
  ])('refuses %s', async (_name, options, status, code) => {
    const { post, backend } = await buildChatApp()
    const answer = await post(URL, { messages: MESSAGES }, options)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    expectUntouched(backend)
  })

  describe('403', () => {
    it('a key without the scope is refused before the body is read', async () => {
      const { post, createKey, backend } = await buildChatApp()
      const key = await createKey({ scopes: ['traces:read', 'traces:write', 'training'] })
      const { status, body } = await post(URL, '{"messages":', { key })
      expect([status, body.error.code]).toEqual([403, 'scope_missing'])
      expectUntouched(backend)
    })

    it('a project outside the key is refused', async () => {
      const { post, createKey, backend } = await buildChatApp()
      const options = {
        key: await createKey({ projects: ['acme/*'] }),
        headers: { 'Compat-Project': 'other/demo' },
      }
      const { status, body } = await post(URL, { messages: MESSAGES, model: 'nope' }, options)
      expect(status).toBe(403)
      expect(body.error).toMatchObject({ code: 'project_forbidden', param: 'Compat-Project' })
      expectUntouched(backend)
    })
  })

  it.each(['nope', '', 'scripted '])('the model %j gets 404', async (model) => {
    const { post, backend } = await buildChatApp()
    // The rule that priority breaks is for later: an unknown model has no capabilities.
    const { status, body } = await post(URL, { messages: MESSAGES, model, priority: 1 })
    expect(status).toBe(404)
    expect(body.error).toMatchObject({
      code: 'model_not_found',
      param: 'model',
      type: 'not_found_error',
    })
    expectUntouched(backend)
  })

  it('a body that is too large gets 413', async () => {
    const { post } = await buildChatApp(HELLO, { config: { bodyBytesMax: 100 } })
    const { status, body } = await post(URL, {
      messages: [{ role: 'user', content: 'x'.repeat(200) }],
    })
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
  })

  it('another media type gets 415', async () => {
    const { post } = await buildChatApp()
    const { status, body } = await post(URL, 'x', { headers: { 'content-type': 'text/plain' } })
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  it('another method gets 405', async () => {
    const { get } = await buildChatApp()
    const { status, headers } = await get(URL)
    expect([status, headers.allow]).toEqual([405, 'POST'])
  })

  it.each([false, true])('a broken backend is 500, stream %s', async (stream) => {
    const { post } = await buildChatApp([new Error('secret detail')])
    const { status, body, text } = await post(URL, { messages: MESSAGES, stream })
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('secret')
  })

  it('a completion beyond all slots gets 503 with Retry-After, and slots are freed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { post, backend } = await buildChatApp([promise, ...HELLO], {
      config: { chatQueueMax: 1 },
    })
    const first = post(URL, { messages: MESSAGES })
    while (backend.runningCount() === 0) await new Promise(setImmediate)
    for (const stream of [false, true]) {
      const { status, body, headers } = await post(URL, { messages: MESSAGES, stream })
      expect([status, body.error.code]).toEqual([503, 'server_overloaded'])
      expect(headers['retry-after']).toBe('1')
    }
    resolve()
    expect((await first).status).toBe(200)
    expect((await post(URL, { messages: MESSAGES, stream: true })).status).toBe(200)
    expect((await post(URL, { messages: MESSAGES })).status).toBe(200)
    expect(backend.calls).toHaveLength(3)
  })
})
