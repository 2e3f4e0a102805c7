import { describe, expect, it } from 'vitest'
import { ResponseCreateRequest } from '../../../src/schemas/chat/responses/responses-request.ts'
import { buildTestApp, type TestResponse } from '../../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../../support/scripted-backend.ts'
import { findResponseFaults } from './openai-types.ts'

const URL = '/v1/responses'
const TOOLS = [{ type: 'function', name: 'f', parameters: {} }]
const CHAT_TOOLS = [{ type: 'function', function: { name: 'f', parameters: {} } }]

async function buildApp(callsTools = true) {
  const backend = createScriptedBackend(HELLO)
  const capabilities = { tools: callsTools, prioritySchedulingEnabled: false }
  const models = scriptedModels({ backend, capabilities })
  return { ...(await buildTestApp({}, { models })), backend }
}

/** What a field becomes: in the chat, in the response, or which one is refused. */
interface Row {
  readonly sent: unknown
  readonly with?: object
  readonly chat?: object
  readonly response?: object
  readonly refused?: string
}

/** A message of one part. */
const says = (part: object, role = 'user') => [{ role, content: [part] }]
const FILE = { file_data: 'data:,x', filename: 'a.txt' }
const AUDIO = { input_audio: { data: 'AA==', format: 'wav' } }

const user = (text: string) => [{ role: 'user', content: text }]

/** Total over the fields, so that a new one does not compile until it has a row. */
const ROWS: { readonly [K in keyof Required<ResponseCreateRequest>]: readonly Row[] } = {
  input: [
    { sent: 'hello', chat: { messages: user('hello') } },
    {
      sent: [
        { role: 'developer', content: 'brief' },
        { role: 'user', content: [{ type: 'input_image', image_url: 'data:,x', detail: 'low' }] },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'done' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
      ],
      chat: {
        messages: [
          { role: 'developer', content: 'brief' },
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'data:,x', detail: 'low' } }],
          },
          {
            role: 'assistant',
            content: null,
            reasoning: 'why',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
          { role: 'assistant', content: 'so' },
        ],
      },
    },
    {
      sent: says({ type: 'refusal', refusal: 'no' }, 'assistant'),
      chat: { messages: says({ type: 'refusal', refusal: 'no' }, 'assistant') },
    },
    {
      sent: says({ type: 'input_file', ...FILE }),
      chat: { messages: says({ type: 'file', file: FILE }) },
    },
    {
      sent: says({ type: 'input_audio', ...AUDIO }),
      chat: { messages: says({ type: 'input_audio', ...AUDIO }) },
    },
    {
      sent: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { role: 'assistant', content: 'so' },
      ],
      chat: { messages: [{ role: 'assistant', content: 'so' }] },
    },
    { sent: [{ content: 'x' }], refused: 'input[0].role' },
    { sent: [{ role: 'user', content: null }], refused: 'input[0].content' },
    { sent: says({ type: 'input_text' }), refused: 'input[0].content[0].text' },
    { sent: says({ type: 'other' }), refused: 'input[0].content[0].type' },
    { sent: says({ type: 'input_file', file_id: 'f' }), refused: 'input[0].content[0].file_id' },
    {
      sent: says({ type: 'input_file', file_url: 'http://x/y' }),
      refused: 'input[0].content[0].file_url',
    },
    { sent: says({ type: 'input_file' }), refused: 'input[0].content[0].file_data' },
    { sent: says({ type: 'input_audio' }), refused: 'input[0].content[0].input_audio' },
    {
      sent: [{ type: 'function_call_output', call_id: 'c', output: { a: 1 } }],
      refused: 'input[0].output',
    },
    { sent: null, refused: 'input' },
    { sent: [{ type: 'web_search_call', id: 'ws' }], refused: 'input[0].type' },
    {
      sent: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
      refused: 'input[0].content[0].file_id',
    },
    { sent: [{ type: 'item_reference', id: 'msg_none' }], refused: 'input[0].id' },
  ],
  model: [{ sent: 'scripted', chat: { model: 'scripted' }, response: { model: 'scripted' } }],
  instructions: [
    {
      sent: 'brief',
      chat: { messages: [{ role: 'system', content: 'brief' }, ...user('hi')] },
      response: { instructions: 'brief' },
    },
  ],
  previous_response_id: [{ sent: `resp_${'0'.repeat(32)}`, refused: 'previous_response_id' }],
  store: [{ sent: false, response: { store: false } }],
  stream: [{ sent: false, response: { status: 'completed' } }],
  stream_options: [{ sent: { include_obfuscation: true }, response: { status: 'completed' } }],
  include: [
    { sent: ['message.output_text.logprobs'], chat: { logprobs: true } },
    { sent: ['reasoning.encrypted_content'], response: { status: 'completed' } },
    { sent: ['everything'], refused: 'include[0]' },
  ],
  max_output_tokens: [
    { sent: 9, chat: { max_completion_tokens: 9 }, response: { max_output_tokens: 9 } },
    { sent: 0, refused: 'max_output_tokens' },
  ],
  temperature: [
    { sent: 0.5, chat: { temperature: 0.5 }, response: { temperature: 0.5 } },
    { sent: 9, refused: 'temperature' },
  ],
  top_p: [{ sent: 0.5, chat: { top_p: 0.5 }, response: { top_p: 0.5 } }],
  top_logprobs: [
    { sent: 2, chat: { logprobs: true, top_logprobs: 2 }, response: { top_logprobs: 2 } },
    { sent: 21, refused: 'top_logprobs' },
  ],
  text: [
    {
      sent: {
        format: { type: 'json_schema', name: 's', schema: { type: 'object' } },
        verbosity: 'low',
      },
      chat: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 's', schema: { type: 'object' } },
        },
        verbosity: 'low',
      },
      response: { text: { format: { type: 'json_schema', name: 's' } } },
    },
    {
      sent: { format: { type: 'json_object' } },
      chat: { response_format: { type: 'json_object' } },
    },
    { sent: { format: { type: 'json_schema', schema: {} } }, refused: 'text.format' },
  ],
  reasoning: [
    {
      sent: { effort: 'low', summary: 'auto' },
      chat: { reasoning_effort: 'low' },
      response: { reasoning: { effort: 'low' } },
    },
    { sent: { effort: 'max' }, refused: 'reasoning.effort' },
  ],
  tools: [
    {
      sent: TOOLS,
      chat: { tools: CHAT_TOOLS },
      response: { tool_choice: 'auto', tools: [{ name: 'f' }] },
    },
    ...['web_search', 'file_search', 'code_interpreter', 'computer_use_preview', 'mcp'].map(
      (type) => ({
        sent: [{ type }],
        refused: 'tools[0].type',
      }),
    ),
    { sent: [{ type: 'function' }], refused: 'tools[0].name' },
  ],
  tool_choice: [
    { sent: 'required', with: { tools: TOOLS }, chat: { tool_choice: 'required' } },
    {
      sent: { type: 'function', name: 'f' },
      with: { tools: TOOLS },
      chat: { tool_choice: { type: 'function', function: { name: 'f' } } },
    },
    {
      sent: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      with: { tools: [...TOOLS, { type: 'function', name: 'g' }] },
      chat: { tool_choice: 'required', tools: CHAT_TOOLS },
    },
    { sent: { type: 'web_search' }, with: { tools: TOOLS }, refused: 'tool_choice' },
    { sent: 'required', refused: 'tool_choice' },
  ],
  parallel_tool_calls: [
    { sent: false, chat: { parallel_tool_calls: false }, response: { parallel_tool_calls: false } },
  ],
  max_tool_calls: [{ sent: 3, response: { max_tool_calls: 3 } }],
  metadata: [
    { sent: { a: 'b' }, response: { metadata: { a: 'b' } } },
    { sent: { a: 1 }, refused: 'metadata.a' },
  ],
  user: [{ sent: 'u', chat: { user: 'u' }, response: { user: 'u' } }],
  safety_identifier: [{ sent: 's', chat: { safety_identifier: 's' } }],
  service_tier: [{ sent: 'auto', chat: { service_tier: 'auto' } }],
  prompt_cache_key: [{ sent: 'k', chat: { prompt_cache_key: 'k' } }],
  prompt_cache_retention: [{ sent: '24h', chat: { prompt_cache_retention: '24h' } }],
  client_metadata: [{ sent: { session: 'a' } }],
  prompt_cache_options: [{ sent: { mode: 'implicit' }, chat: { prompt_cache_options: {} } }],
  truncation: [
    { sent: 'disabled', response: { truncation: 'disabled' } },
    { sent: 'auto', refused: 'truncation' },
  ],
  background: [
    { sent: false, response: { background: false } },
    { sent: true, refused: 'background' },
  ],
  conversation: [{ sent: 'conv_1', refused: 'conversation' }],
  prompt: [{ sent: { id: 'p' }, refused: 'prompt' }],
  context_management: [{ sent: [{ type: 'compaction' }], refused: 'context_management' }],
  moderation: [{ sent: { model: 'm' }, refused: 'moderation' }],
  access_programs: [{ sent: {}, refused: 'access_programs' }],
  image: [{ sent: {}, refused: 'image' }],
}

const CASES = Object.entries(ROWS).flatMap(([name, rows]) =>
  rows.map((row) => ({ name, row, text: JSON.stringify(row.sent).slice(0, 60) })),
)

describe('fields of POST /v1/responses', () => {
  it.each(CASES)('$name: $text', async ({ name, row }) => {
    const { post, backend } = await buildApp()
    const { status, body } = await post(URL, { input: 'hi', ...row.with, [name]: row.sent })
    if (row.refused !== undefined) {
      expect([status, body.error.param]).toEqual([400, row.refused])
      expect(backend.calls).toEqual([])
      return
    }
    expect(status).toBe(200)
    expect(findResponseFaults(body)).toEqual([])
    expect(body).toMatchObject(row.response ?? {})
    expect(backend.calls[0]?.request).toMatchObject(row.chat ?? {})
    expect(JSON.parse(backend.calls[0]?.body ?? '')).toMatchObject(row.chat ?? {})
  })

  it('that only chats have are refused by the name that they have here', async () => {
    const { post } = await buildApp()
    for (const [name, value] of Object.entries({
      messages: [{}],
      n: 2,
      max_tokens: 3,
      response_format: {},
    })) {
      const { status, body } = await post(URL, { input: 'hi', [name]: value })
      expect([status, body.error.code, body.error.param]).toEqual([
        400,
        'unsupported_parameter',
        name,
      ])
    }
  })

  it.each([
    ['truncation', 'auto', 'truncation must be disabled: items are never left out to make room.'],
    ['conversation', 'c', 'conversation is not supported: go on from a response by '],
  ])('that are refused tell what to send: %s', async (name, value, message) => {
    const { post } = await buildApp()
    const { body } = await post(URL, { input: 'hi', [name]: value })
    expect(body.error.message).toContain(message)
  })

  it('that only chats have pass to the engine', async () => {
    const { post, backend } = await buildApp()
    await post(URL, { input: 'hi', top_k: 5, min_p: 0.5 })
    expect(backend.calls[0]?.request).toMatchObject({ top_k: 5, min_p: 0.5 })
  })

  it('are each used in the chat, returned in the response, or refused', () => {
    expect(Object.keys(ResponseCreateRequest.shape).sort()).toEqual(Object.keys(ROWS).sort())
  })

  it('have tool_choice none for a model that calls no tools', async () => {
    const { post } = await buildApp(false)
    const { body } = await post(URL, { input: 'hi', tools: TOOLS })
    expect(body.tool_choice).toBe('none')
  })
})

describe('stored responses', () => {
  it('of a project are seen by its keys alone, and others by the key that made them', async () => {
    const { post, get, createKey } = await buildApp()
    const projects = ['acme/*']
    const [maker, mate] = [await createKey({ projects }), await createKey({ projects })]
    const other = await createKey({ projects: ['umbrella/*'] })
    const headers = { 'openai-project': 'acme/demo' }
    const shared = (await post(URL, { input: 'hi' }, { key: maker, headers })).body.id
    const own = (await post(URL, { input: 'hi' }, { key: maker })).body.id
    const statuses = async (id: string) =>
      Promise.all(
        [maker, mate, other].map(async (key) => (await get(`${URL}/${id}`, { key })).status),
      )
    expect(await statuses(shared)).toEqual([200, 200, 404])
    expect(await statuses(own)).toEqual([200, 404, 404])
    const going = { input: 'more', previous_response_id: own }
    const refused = await post(URL, going, { key: mate })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'previous_response_not_found'])
    expect((await post(`${URL}/${own}/cancel`, '', { key: mate })).status).toBe(404)
  })

  it('are not kept with store false, nor when the chat is refused', async () => {
    const { post, get } = await buildApp()
    const { body } = await post(URL, { input: 'hi', store: false })
    expect((await get(`${URL}/${body.id}`)).body.error.code).toBe('response_not_found')
    expect((await get(`${URL}/resp_x`)).status).toBe(404)
    expect((await get(`${URL}/${body.id}?stream=true`)).body.error.param).toBe('stream')
  })

  it('are included again by references to their items', async () => {
    const { post, backend } = await buildApp()
    const first = (await post(URL, { input: 'one' })).body
    const id = first.output[0].id
    await post(URL, {
      input: [
        { type: 'item_reference', id },
        { role: 'user', content: 'two' },
      ],
    })
    expect(backend.calls[1]?.request.messages).toEqual([
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'two' },
    ])
  })

  it('are included by references to their items only up to a limit', async () => {
    const { post } = await buildApp()
    const long = [{ role: 'user', content: 'x'.repeat(9 * 1024 * 1024) }]
    const [one, two] = [
      (await post(URL, { input: long })).body,
      (await post(URL, { input: long })).body,
    ]
    const refer = (id: string) => ({ type: 'item_reference', id })
    const [small, other] = [refer(one.output[0].id), refer(two.output[0].id)]
    const large = refer(`msg_${one.id.slice('resp_'.length)}_i0`)
    expect((await post(URL, { input: [small, small, large] })).status).toBe(200)
    for (const input of [
      [small, other],
      [large, large],
    ]) {
      const { status, body } = await post(URL, { input })
      expect([status, body.error.code]).toEqual([400, 'context_length_exceeded'])
      expect(body.error.param).toBe('input[1].id')
    }
  })

  it('list the items of their input in pages', async () => {
    const { post, get } = await buildApp()
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }))
    const { id } = (await post(URL, { input })).body
    const page = (await get(`${URL}/${id}/input_items?limit=2&order=asc`)).body
    expect(page.data.map((item: TestResponse['body']) => item.content[0].text)).toEqual(['a', 'b'])
    expect(page.has_more).toBe(true)
    const rest = (await get(`${URL}/${id}/input_items?order=asc&after=${page.last_id}`)).body
    expect(rest.data.map((item: TestResponse['body']) => item.content[0].text)).toEqual(['c'])
    expect((await get(`${URL}/${id}/input_items?after=nothing`)).status).toBe(400)
  })

  it('are recorded as calls of their project, as they were asked and answered', async () => {
    const { post } = await buildApp()
    const headers = { 'compat-project': 'acme/demo' }
    const { body, headers: told } = await post(URL, { input: 'hi', instructions: 'x' }, { headers })
    const call_id = String(told['x-weft-call-id'])
    const read = await post('/call/read', { project_id: 'acme/demo', id: call_id })
    expect(read.body.call).toMatchObject({
      op_name: 'responses',
      inputs: { input: 'hi', instructions: 'x' },
      output: { id: body.id, object: 'response', status: 'completed', output: body.output },
      summary: { usage: { scripted: { total_tokens: 5 } } },
    })
  })
})
