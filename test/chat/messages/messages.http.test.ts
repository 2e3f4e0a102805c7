/** Messages of Anthropic's API over chats: the shapes of responses and errors, keys, models, counts and records. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { finish, HELLO, piece, prompt } from '../../support/scripted-backend.ts'
import { buildApp, HI, URL } from './scripted-messages.ts'

const TOOL = { name: 'f', description: 'd', input_schema: { type: 'object' } }

describe('a message', () => {
  it('is answered whole, with cached input beside the other', async () => {
    const { post } = await buildApp([prompt(10, 4), piece('Hel'), piece('lo'), finish()])
    const { body, headers } = await post(`${URL}?beta=true`, HI)
    expect(body).toEqual({
      id: expect.stringMatching(/^msg_[A-Za-z0-9]+$/),
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 6,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 0,
        output_tokens: 2,
      },
    })
    expect(headers['request-id']).toBe(headers['x-request-id'])
  })

  it('has calls of tools as blocks whose input is an object', async () => {
    const calls = [
      { index: 0, id: 'a', name: 'f', arguments: '{"n":9007199254740993}' },
      { index: 1, name: 'g', arguments: '' },
    ]
    const { post } = await buildApp([
      prompt(),
      piece('', { toolCalls: calls }),
      finish({ finish_reason: 'tool_calls' }),
    ])
    const { body, text } = await post(URL, { ...HI, tools: [TOOL] })
    expect(body.stop_reason).toBe('tool_use')
    expect(body.content).toMatchObject([
      { type: 'tool_use', id: 'a', name: 'f' },
      { type: 'tool_use', id: expect.stringMatching(/^toolu_\w+$/), name: 'g', input: {} },
    ])
    expect(text).toContain('"input":{"n":9007199254740993}')
  })

  it.each([
    ['shown where it is asked for', { type: 'enabled', budget_tokens: 2048 }, 'why'],
    ['shown where the model decides', { type: 'adaptive' }, 'why'],
    ['left out where it is to be omitted', { type: 'adaptive', display: 'omitted' }, null],
    ['left out where it is disabled', { type: 'disabled' }, null],
    ['left out where it is not asked for', undefined, null],
  ])('has thinking that is %s', async (_, thinking, shown) => {
    const { post } = await buildApp([
      prompt(),
      piece('', { reasoning: 'why' }),
      piece('so'),
      finish(),
    ])
    const { body } = await post(URL, { ...HI, thinking })
    const said = { type: 'text', text: 'so' }
    expect(body.content).toEqual(
      shown === null ? [said] : [{ type: 'thinking', thinking: shown, signature: '' }, said],
    )
  })

  it.each([
    ['max_tokens', finish({ finish_reason: 'length' }), null],
    ['stop_sequence', finish({ stop_reason: 'END' }), 'END'],
    ['end_turn', finish({ stop_reason: 'other' }), null],
    ['end_turn', finish({ stop_reason: 2 }), null],
  ])('ends with %s', async (stop_reason, end, stop_sequence) => {
    const { post } = await buildApp([prompt(), piece('a'), end])
    const { body } = await post(URL, { ...HI, stop_sequences: ['END'] })
    expect(body).toMatchObject({ stop_reason, stop_sequence })
  })
})

describe('an error of the Messages API', () => {
  const ERRORS = [
    ['invalid_value', 400, 'invalid_request_error'],
    ['validation_failed', 400, 'invalid_request_error'],
    ['context_length_exceeded', 400, 'invalid_request_error'],
    ['model_not_found', 404, 'not_found_error'],
    ['request_too_large', 413, 'request_too_large'],
    ['upstream_rate_limited', 429, 'rate_limit_error'],
    ['internal_error', 500, 'api_error'],
    ['upstream_error', 502, 'api_error'],
    ['server_overloaded', 529, 'overloaded_error'],
    ['upstream_overloaded', 529, 'overloaded_error'],
    ['upstream_timeout', 504, 'timeout_error'],
  ] as const

  it.each(ERRORS)('%s has status %i and type %s', async (code, status, type) => {
    const { post } = await buildApp([new ApiError(code, { retryAfterS: 2, message: 'told' })])
    const answer = await post(URL, HI)
    expect(answer.status).toBe(status)
    expect(answer.headers['request-id']).toBe(answer.body.request_id)
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.body).toEqual({
      type: 'error',
      error: { type, message: 'told' },
      request_id: expect.any(String),
    })
  })

  it.each([
    ['a broken body', '{', { status: 400, type: 'invalid_request_error' }],
    [
      'no max_tokens',
      { ...HI, max_tokens: undefined },
      { status: 400, type: 'invalid_request_error' },
    ],
    ['an unknown model', { ...HI, model: 'nope' }, { status: 404, type: 'not_found_error' }],
    ['an unknown field', { ...HI, nonsense: 1 }, { status: 400, type: 'invalid_request_error' }],
  ])('answers %s before a model is asked', async (_, sent, { status, type }) => {
    const { post, backend } = await buildApp()
    const answer = await post(URL, sent)
    expect(answer.status).toBe(status)
    expect(answer.body.error.type).toBe(type)
    expect(answer.headers['request-id']).toBe(answer.body.request_id)
    expect(backend.calls).toHaveLength(0)
  })
})

it.each([false, true])(
  'a thread is refused so that clients go on without one, dropping: %s',
  async (drops) => {
    const { post } = await buildApp(HELLO, { drops })
    const thread = { type: 'continue', previous_message_id: 'msg_1' }
    const { status, body } = await post(URL, { ...HI, thread })
    expect([status, body.error.details]).toEqual([
      400,
      { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    ])
  },
)

describe('the key of a message', () => {
  it.each([
    ['in x-api-key', (key: string) => ({ 'x-api-key': key })],
    ['as Bearer', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['in both', (key: string) => ({ 'x-api-key': key, authorization: `Bearer ${key}` })],
    [
      'in x-api-key beside another token',
      (key: string) => ({ 'x-api-key': key, authorization: 'Bearer no' }),
    ],
    [
      'as Bearer beside another key',
      (key: string) => ({ 'x-api-key': 'no', authorization: `Bearer ${key}` }),
    ],
  ])('is accepted %s', async (_, headers) => {
    const { post, key } = await buildApp()
    const sent = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-2026-01-01,new',
      ...headers(key),
    }
    for (const url of [URL, `/anthropic${URL}`]) {
      expect((await post(url, HI, { key: null, headers: sent })).status).toBe(200)
    }
  })

  it.each([
    ['no key', {}, 401, 'authentication_error'],
    ['a wrong key', { 'x-api-key': 'no' }, 401, 'authentication_error'],
    ['Basic credentials', { authorization: 'Basic YTpi' }, 401, 'authentication_error'],
  ])('is refused with %s', async (_, headers, status, type) => {
    const { post } = await buildApp()
    const answer = await post(URL, HI, { key: null, headers })
    expect(answer.status).toBe(status)
    expect(answer.body.error.type).toBe(type)
    expect(answer.headers['request-id']).toBe(answer.body.request_id)
  })

  it('needs the scope inference', async () => {
    const { post, createKey } = await buildApp()
    const key = await createKey({ scopes: ['traces:read'] })
    const answer = await post(URL, HI, { key })
    expect(answer.status).toBe(403)
    expect(answer.body.error.type).toBe('permission_error')
  })
})

describe('the models of the Messages API', () => {
  const headers = { 'anthropic-version': '2023-06-01' }
  const MODEL = {
    type: 'model',
    id: 'scripted',
    display_name: 'scripted',
    created_at: '2023-11-14T22:13:20Z',
  }

  it('are listed in its shape for its clients alone', async () => {
    const { get } = await buildApp()
    const listed = await get('/v1/models', { headers })
    expect(listed.body).toEqual({
      data: [MODEL],
      has_more: false,
      first_id: 'scripted',
      last_id: 'scripted',
    })
    expect((await get('/v1/models')).body).toMatchObject({ object: 'list' })
  })

  it('are read one by one, errors included', async () => {
    const { get, key } = await buildApp()
    const keyed = { key: null, headers: { ...headers, 'x-api-key': key } }
    expect((await get('/anthropic/v1/models/scripted', keyed)).body).toEqual(MODEL)
    const missing = await get('/v1/models/nope', keyed)
    expect(missing.body).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    expect((await get('/v1/models/nope')).body.error.code).toBe('model_not_found')
  })
})

describe('a count of the tokens of a message', () => {
  it('is that of the chat with the tokenizer of the model', async () => {
    const { post } = await buildTestApp()
    const sent = { model: 'tiny', system: 'brief', messages: [{ role: 'user', content: 'hi' }] }
    const counted = await post(`${URL}/count_tokens`, sent)
    const made = await post(URL, { ...sent, max_tokens: 1 })
    expect(counted.body, counted.text).toEqual({ input_tokens: made.body.usage.input_tokens })
  })

  it('is refused for a model without a tokenizer', async () => {
    const { post } = await buildApp()
    const answer = await post(`${URL}/count_tokens`, { messages: HI.messages })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toMatchObject({
      type: 'not_found_error',
      message: expect.stringContaining('tokenize'),
    })
  })
})

describe('the record of a message', () => {
  it('has the request and the message, its tokens, and the thread of the client', async () => {
    const { post, deps } = await buildApp([prompt(10, 4), piece('Hello'), finish()])
    const headers = { 'Compat-Project': 'acme/demo', 'x-claude-code-session-id': 'session-1' }
    for (const stream of [false, true]) {
      const made = await post(URL, { ...HI, stream, metadata: { user_id: 'u' } }, { headers })
      const id = String(made.headers['x-weft-call-id'])
      await expect.poll(() => deps.calls.findCall('acme/demo', id)).not.toBeNull()
      const { body } = await post('/call/read', { project_id: 'acme/demo', id })
      expect(body.call).toMatchObject({
        op_name: 'messages',
        thread_id: 'session-1',
        inputs: { messages: HI.messages },
        output: {
          type: 'message',
          content: [{ type: 'text', text: 'Hello' }],
          stop_reason: 'end_turn',
        },
        attributes: { user: 'u', stream },
        summary: { usage: { scripted: { prompt_tokens: 10, completion_tokens: 1 } } },
      })
    }
  })
})
