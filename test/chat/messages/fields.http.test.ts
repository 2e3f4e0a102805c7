/** Messages of Anthropic's API over chats: what each field of a request becomes, and the shapes of answers and errors. */
import { describe, expect, it } from 'vitest'
import type { MessageCreateRequest } from '../../../src/schemas/chat/messages/messages-request.ts'
import { HELLO } from '../../support/scripted-backend.ts'
import { buildApp, HI, URL } from './scripted-messages.ts'

/** What a field becomes in the chat, or the field that a refusal names. */
interface Row {
  readonly sent: unknown
  readonly with?: object
  readonly chat?: object
  readonly refused?: string
}

const says = (...content: object[]) => [{ role: 'user', content }]
const SCHEMA = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }
const TOOL = { name: 'f', description: 'd', input_schema: SCHEMA }
const CHAT_TOOL = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: SCHEMA },
}
const PIXEL = { type: 'base64', media_type: 'image/png', data: 'AA==' }
const PIXEL_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const user = (content: unknown) => ({ role: 'user', content })
const result = (content: unknown, more: object = {}) =>
  says({ type: 'tool_result', tool_use_id: 't', content, ...more })

/** Total over the fields, so that a new one does not compile until it has a row. */
const ROWS: { readonly [K in keyof Required<MessageCreateRequest>]: readonly Row[] } = {
  model: [{ sent: 'scripted', chat: { model: 'scripted' } }],
  max_tokens: [{ sent: 7, chat: { max_completion_tokens: 7 } }],
  messages: [
    { sent: [user('hi')], chat: { messages: [user('hi')] } },
    {
      sent: says({ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }),
      chat: { messages: [user('a')] },
    },
    {
      sent: says({ type: 'text', text: 'a' }, { type: 'image', source: PIXEL }),
      chat: { messages: [user([{ type: 'text', text: 'a' }, PIXEL_PART])] },
    },
    {
      sent: says({ type: 'image', source: { type: 'url', url: 'https://x/y.png' } }),
      chat: { messages: [user([{ type: 'image_url', image_url: { url: 'https://x/y.png' } }])] },
    },
    {
      sent: says({ type: 'image', source: { type: 'file', file_id: 'f' } }),
      refused: 'messages[0].content[0].source.type',
    },
    {
      sent: says({
        type: 'document',
        title: 'T',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
      }),
      chat: {
        messages: [
          user([
            {
              type: 'file',
              file: { filename: 'T', file_data: 'data:application/pdf;base64,AA==' },
            },
          ]),
        ],
      },
    },
    {
      sent: says({ type: 'document', source: { type: 'text', data: 'plain' } }),
      chat: { messages: [user('plain')] },
    },
    {
      sent: says({ type: 'document', source: { type: 'url', url: 'https://x' } }),
      refused: 'messages[0].content[0].source.type',
    },
    {
      sent: [
        user('go'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'why', signature: 'sig' },
            { type: 'redacted_thinking', data: 'sealed' },
            { type: 'text', text: 'so' },
            { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
          ],
        },
        ...result('done'),
      ],
      chat: {
        messages: [
          user('go'),
          {
            role: 'assistant',
            content: 'so',
            reasoning: 'why',
            reasoning_details: [
              { type: 'reasoning.text', text: 'why', signature: 'sig' },
              { type: 'reasoning.encrypted', data: 'sealed' },
            ],
            tool_calls: [
              { id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            ],
          },
          { role: 'tool', tool_call_id: 't', content: 'done' },
        ],
      },
    },
    {
      // Thinking that no maker signed cannot be given back as such.
      sent: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'why', signature: '' },
            { type: 'tool_use', id: 't', name: 'f', input: {} },
          ],
        },
        ...result([{ type: 'text', text: 'x' }], { is_error: true }),
      ],
      chat: {
        messages: [
          {
            role: 'assistant',
            content: null,
            reasoning: 'why',
            tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 't', content: 'Error: x' },
        ],
      },
    },
    {
      sent: result([{ type: 'image', source: PIXEL }]),
      chat: {
        messages: [
          { role: 'tool', tool_call_id: 't', content: 'The result is in the next message.' },
          user([PIXEL_PART]),
        ],
      },
    },
    {
      sent: result([{ type: 'tool_reference', tool_name: 'Read' }]),
      chat: {
        messages: [{ role: 'tool', tool_call_id: 't', content: 'The tool Read is available.' }],
      },
    },
    {
      sent: result(undefined),
      chat: { messages: [{ role: 'tool', tool_call_id: 't', content: '' }] },
    },
    // As Claude Code sends its environment: after the user's message, with settings of its own.
    {
      sent: [
        user('hi'),
        {
          role: 'system',
          content: [{ type: 'text', text: 'env' }],
          output_config: { effort: 'low' },
        },
        { role: 'assistant', content: 'so' },
        { role: 'system', content: 'more' },
        user('on'),
      ],
      chat: {
        messages: [
          user('hi'),
          { role: 'system', content: 'env' },
          { role: 'assistant', content: 'so' },
          { role: 'system', content: 'more' },
          user('on'),
        ],
      },
    },
    {
      sent: [user('hi'), { role: 'assistant', content: 'The answer is' }],
      chat: {
        messages: [user('hi'), { role: 'assistant', content: 'The answer is' }],
        continue_final_message: true,
      },
    },
    {
      sent: says({ type: 'web_search_tool_result', content: [] }),
      refused: 'messages[0].content[0].type',
    },
    {
      sent: says({ type: 'tool_result', content: 'x' }),
      refused: 'messages[0].content[0].tool_use_id',
    },
    { sent: [], refused: 'messages' },
    { sent: [{ role: 'tool', content: 'x' }], refused: 'messages[0].role' },
  ],
  system: [
    { sent: 'brief', chat: { messages: [{ role: 'system', content: 'brief' }, user('hi')] } },
    {
      sent: [
        {
          type: 'text',
          text: 'x-anthropic-billing-header: cc_version=2.1.332.a; cc_entrypoint=sdk;',
        },
        { type: 'text', text: 'brief', cache_control: { type: 'ephemeral' } },
      ],
      chat: { messages: [{ role: 'system', content: 'brief' }, user('hi')] },
    },
    { sent: [{ type: 'image', source: PIXEL }], refused: 'system[0].type' },
  ],
  stream: [{ sent: false }],
  stop_sequences: [{ sent: ['x'], chat: { stop: ['x'] } }],
  temperature: [
    { sent: 0.5, chat: { temperature: 0.5 } },
    { sent: 9, refused: 'temperature' },
  ],
  top_p: [{ sent: 0.5, chat: { top_p: 0.5 } }],
  top_k: [{ sent: 5, chat: { top_k: 5 } }],
  tools: [
    { sent: [TOOL], chat: { tools: [CHAT_TOOL] } },
    { sent: [{ ...TOOL, type: 'custom', defer_loading: true }], chat: { tools: [CHAT_TOOL] } },
    {
      sent: [{ name: 'g', input_schema: {} }],
      chat: {
        tools: [
          {
            type: 'function',
            function: { name: 'g', parameters: { type: 'object', properties: {} } },
          },
        ],
      },
    },
    { sent: [{ type: 'web_search_20250305', name: 'web_search' }], refused: 'tools[0].type' },
    { sent: [{ input_schema: {} }], refused: 'tools[0].name' },
  ],
  tool_choice: [
    { sent: { type: 'auto' }, with: { tools: [TOOL] }, chat: { tools: [CHAT_TOOL] } },
    {
      sent: { type: 'any', disable_parallel_tool_use: true },
      with: { tools: [TOOL] },
      chat: { tools: [CHAT_TOOL], tool_choice: 'required', parallel_tool_calls: false },
    },
    {
      sent: { type: 'tool', name: 'f' },
      with: { tools: [TOOL] },
      chat: { tools: [CHAT_TOOL], tool_choice: { type: 'function', function: { name: 'f' } } },
    },
    { sent: { type: 'none' }, chat: { tool_choice: 'none' } },
    { sent: { type: 'tool', name: 'g' }, with: { tools: [TOOL] }, refused: 'tool_choice.name' },
    { sent: { type: 'any' }, refused: 'tool_choice' },
  ],
  thinking: [
    { sent: { type: 'enabled', budget_tokens: 2048 }, chat: { reasoning_effort: 'low' } },
    { sent: { type: 'enabled', budget_tokens: 16_000 }, chat: { reasoning_effort: 'medium' } },
    { sent: { type: 'enabled', budget_tokens: 31_999 }, chat: { reasoning_effort: 'high' } },
    { sent: { type: 'adaptive', display: 'omitted' } },
    { sent: { type: 'disabled' } },
  ],
  output_config: [
    { sent: { effort: 'medium' }, chat: { reasoning_effort: 'medium' } },
    { sent: { effort: 'most' }, refused: 'output_config.effort' },
    {
      sent: { format: { type: 'json_schema', schema: SCHEMA } },
      chat: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: SCHEMA, strict: true },
        },
      },
    },
  ],
  output_format: [
    {
      sent: { type: 'json_schema', schema: SCHEMA },
      chat: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: SCHEMA, strict: true },
        },
      },
    },
  ],
  metadata: [{ sent: { user_id: '{"device_id":"x"}' }, chat: { user: '{"device_id":"x"}' } }],
  cache_control: [{ sent: { type: 'ephemeral' } }],
  context_management: [{ sent: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }],
  service_tier: [{ sent: 'auto' }],
  speed: [{ sent: 'standard' }, { sent: 'fast', refused: 'speed' }],
  mcp_servers: [{ sent: [] }, { sent: [{ type: 'url' }], refused: 'mcp_servers' }],
  container: [{ sent: null }, { sent: 'c', refused: 'container' }],
  inference_geo: [{ sent: 'us', refused: 'inference_geo' }],
  thread: [{ sent: null }, { sent: { type: 'create' }, refused: 'whole conversation' }],
}

const CASES = Object.entries(ROWS).flatMap(([field, rows]) =>
  rows.map((row) => ({ ...row, field, shown: JSON.stringify(row.sent)?.slice(0, 60) })),
)

describe('a field of a message', () => {
  it.each(CASES)('$field $shown is translated or refused by name', async (row) => {
    const { post, backend } = await buildApp()
    const answer = await post(URL, { ...HI, ...row.with, [row.field]: row.sent })
    if (row.refused === undefined) {
      expect(answer.status, answer.text).toBe(200)
      const plain = { model: 'scripted', max_completion_tokens: 16, messages: [user('hi')] }
      expect(backend.calls[0]?.request).toEqual({ ...plain, ...row.chat })
      return
    }
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(row.refused) },
    })
    expect(backend.calls).toHaveLength(0)
  })

  it('is left out and named where the model drops what it does not support', async () => {
    const { post, backend } = await buildApp(HELLO, { drops: true })
    const answer = await post(URL, {
      ...HI,
      speed: 'fast',
      tools: [TOOL, { type: 'web_search_20250305', name: 'web_search' }],
      messages: says({ type: 'text', text: 'hi' }, { type: 'container_upload', file_id: 'f' }),
    })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['x-weft-dropped-fields']).toBe(
      'speed, tools.web_search_20250305, content.container_upload',
    )
    expect(backend.calls[0]?.request).toMatchObject({ tools: [CHAT_TOOL], messages: [user('hi')] })
  })

  it('keeps all digits of numbers in inputs and schemas of tools', async () => {
    const { post, backend } = await buildApp()
    const body = JSON.stringify({
      ...HI,
      tools: [{ name: 'f', input_schema: { type: 'integer', maximum: 1 } }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { n: 1 } }] },
        ...result('x'),
      ],
    })
    const digits = '9007199254740993'
    await post(
      URL,
      body.replace('"maximum":1', `"maximum":${digits}`).replace('"n":1', `"n":${digits}`),
    )
    const sent = backend.calls[0]?.body ?? ''
    expect(sent).toContain(`"maximum":${digits}`)
    expect(sent).toContain(`{\\"n\\":${digits}}`)
  })
})
