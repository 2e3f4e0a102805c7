/** The eight message variants: what each role needs, and what passes untouched. */
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { describeJson } from '../../../src/schemas/bounded-fields.ts'
import {
  ChatCompletionAssistantMessageParam,
  ChatCompletionDeveloperMessageParam,
  ChatCompletionFunctionMessageParam,
  ChatCompletionSystemMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
  ChatMessage,
  CustomChatCompletionMessageParam,
  chooseMessageVariant,
  Message,
} from '../../../src/schemas/chat/chat-message.ts'
import { ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'

const SECRET = 'SECRET-PROMPT'
const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
const parts = [
  'bare',
  { type: 'text', text: 'Hello' },
  { type: 'image_url', image_url: { url: 'data:,', detail: 'low' }, uuid: 'u' },
  { type: 'image_url', image_url: 'https://example.test/a.png' },
  { type: 'input_audio', input_audio: { data: '', format: 'wav' } },
  { type: 'video_url', video_url: { url: 'https://example.test/a.mp4' } },
  { type: 'file', file: { file_id: 'f' } },
  { type: 'thinking', thinking: 'Hm.', closed: true },
  { type: 'a_part_of_tomorrow', anything: [1] },
]

interface VariantRow {
  readonly schema: z.ZodType
  readonly accepts: readonly object[]
  /** A refused message, and the path of its fault. */
  readonly rejects: readonly (readonly [message: unknown, path: string])[]
}

const neededContent = (role: string): Omit<VariantRow, 'schema'> => ({
  accepts: [
    { role, content: 'Hello' },
    { role, content: '' },
    { role, content: [] },
    { role, content: parts },
    { role, content: [{ type: 't' }, { type: 't'.repeat(64) }] },
    { role, content: 'Hello', name: 'Ada' },
    { role, content: 'Hello', name: 'n'.repeat(1_024) },
    { role, content: 'Hello', name: null, more: { a: 1 } },
  ],
  rejects: [
    [{ role }, 'content'],
    [{ role, content: null }, 'content'],
    [{ role, content: 5 }, 'content'],
    [{ role, content: { text: SECRET } }, 'content'],
    [{ role, content: [SECRET, 5] }, 'content.1'],
    [{ role, content: [{ text: SECRET }] }, 'content.0'],
    [{ role, content: [{ type: '' }] }, 'content.0.type'],
    [{ role, content: [{ type: 't'.repeat(65) }] }, 'content.0.type'],
    [{ role, content: [{ type: 'text', text: 5 }] }, 'content.0'],
    [{ role, content: [null] }, 'content.0'],
    [{ role, content: SECRET, name: 5 }, 'name'],
    [{ role, content: SECRET, name: 'n'.repeat(1_025) }, 'name'],
  ],
})

const VARIANTS: Readonly<Record<string, VariantRow>> = {
  ChatCompletionDeveloperMessageParam: {
    schema: ChatCompletionDeveloperMessageParam,
    ...neededContent('developer'),
  },
  ChatCompletionSystemMessageParam: {
    schema: ChatCompletionSystemMessageParam,
    ...neededContent('system'),
  },
  ChatCompletionUserMessageParam: {
    schema: ChatCompletionUserMessageParam,
    ...neededContent('user'),
  },
  ChatCompletionAssistantMessageParam: {
    schema: ChatCompletionAssistantMessageParam,
    accepts: [
      { role: 'assistant', content: 'Hello' },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'assistant', tool_calls: [{ type: 'custom', custom: { name: 'a', input: 'b' } }] },
      { role: 'assistant', tool_calls: [{ function: { name: 'a', arguments: { b: 1 } } }] },
      { role: 'assistant', tool_calls: Array(512).fill(call) },
      { role: 'assistant', function_call: { name: 'a', arguments: '{}' } },
      { role: 'assistant', function_call: { name: 'n'.repeat(1_024) } },
      { role: 'assistant', audio: { id: 'audio_1' } },
      { role: 'assistant', refusal: 'No.' },
      { role: 'assistant', reasoning: 'Hm.' },
      { role: 'assistant', reasoning_content: 'Hm.' },
      { role: 'assistant', content: 'Hello', tool_calls: [], annotations: [], channel: 'final' },
    ],
    rejects: [
      [{ role: 'assistant' }, 'content'],
      [{ role: 'assistant', content: null, name: 'Ada' }, 'content'],
      [{ role: 'assistant', tool_calls: [] }, 'content'],
      [{ role: 'assistant', refusal: null, audio: null }, 'content'],
      [{ role: 'assistant', content: 5 }, 'content'],
      [{ role: 'assistant', tool_calls: SECRET }, 'tool_calls'],
      [{ role: 'assistant', tool_calls: [call, SECRET] }, 'tool_calls.1'],
      [
        { role: 'assistant', tool_calls: [{ function: { arguments: '' } }] },
        'tool_calls.0.function.name',
      ],
      [{ role: 'assistant', tool_calls: Array(513).fill(call) }, 'tool_calls'],
      [{ role: 'assistant', function_call: { arguments: SECRET } }, 'function_call.name'],
      [{ role: 'assistant', audio: SECRET }, 'audio'],
      [{ role: 'assistant', refusal: 5 }, 'refusal'],
      [{ role: 'assistant', reasoning: {} }, 'reasoning'],
      [{ role: 'assistant', reasoning_content: 5 }, 'reasoning_content'],
    ],
  },
  ChatCompletionToolMessageParam: {
    schema: ChatCompletionToolMessageParam,
    accepts: [
      { role: 'tool', content: '7', tool_call_id: 'call_1' },
      { role: 'tool', content: parts },
      { role: 'tool', content: null },
      { role: 'tool', content: '7', name: 'add' },
    ],
    rejects: [
      [{ role: 'tool', tool_call_id: 'call_1' }, 'content'],
      [{ role: 'tool', content: 7 }, 'content'],
      [{ role: 'tool', content: SECRET, tool_call_id: 5 }, 'tool_call_id'],
    ],
  },
  ChatCompletionFunctionMessageParam: {
    schema: ChatCompletionFunctionMessageParam,
    accepts: [
      { role: 'function', content: '7', name: 'add' },
      { role: 'function', content: null, name: 'add' },
    ],
    rejects: [
      [{ role: 'function', content: SECRET }, 'name'],
      [{ role: 'function', content: SECRET, name: null }, 'name'],
      [{ role: 'function', content: SECRET, name: '' }, 'name'],
      [{ role: 'function', name: 'a' }, 'content'],
      [{ role: 'function', content: 7, name: 'add' }, 'content'],
    ],
  },
  CustomChatCompletionMessageParam: {
    schema: CustomChatCompletionMessageParam,
    accepts: [
      { role: 'context', content: 'Hello' },
      { role: 'ipython', content: null, task: 'query', tools: [{}] },
      { role: 'constructor', content: 'Hello' },
      { role: '__proto__', content: 'Hello' },
      {
        role: 'r'.repeat(64),
        content: null,
        tool_calls: [call],
        tool_call_id: 'call_1',
        reasoning: 'Hm.',
      },
    ],
    rejects: [
      [{ role: 'context', content: 5 }, 'content'],
      [{ role: 'context' }, 'content'],
      [{ role: 'context', content: 'a', name: {} }, 'name'],
      [{ role: 'context', content: 'a', tool_calls: SECRET }, 'tool_calls'],
      [{ role: 'context', content: 'a', tool_call_id: 5 }, 'tool_call_id'],
      [{ role: 'context', content: 'a', reasoning: 5 }, 'reasoning'],
    ],
  },
  Message: {
    schema: Message,
    accepts: [
      { role: 'narrator', content: 'Hello', channel: 'analysis' },
      { role: 'narrator', content: [{ type: 'text', text: 'Hello' }], recipient: 'all' },
      { role: 'narrator', content: 'Hello', content_type: 'json', name: 'Ada' },
    ],
    rejects: [
      [{ role: 'narrator', channel: 'final' }, 'content'],
      [{ role: 'narrator', content: 'a', channel: 5 }, 'channel'],
      [{ role: 'narrator', content: 'a', recipient: {} }, 'recipient'],
      [{ role: 'narrator', content: 'a', content_type: 5 }, 'content_type'],
      [{ role: 'narrator', channel: SECRET, content: 5 }, 'content'],
    ],
  },
}

describe.each(Object.entries(VARIANTS))('a message of §2.10 %s', (title, { schema, ...row }) => {
  it('is chosen by its role and named as in the spec', () => {
    for (const message of row.accepts) {
      expect(chooseMessageVariant(message as Record<string, unknown>)).toBe(schema)
    }
    expect(describeJson(schema)).toMatchObject({ $ref: `#/$defs/${title}` })
  })

  it.each(row.accepts.map((message) => [message]))('passes whole: %j', (message) => {
    expect(ChatMessage.parse(message)).toEqual(message)
  })

  it.each(row.rejects)('is refused: %j at %s', (message, path) => {
    const issues = ChatMessage.safeParse(message).error?.issues ?? []
    expect(issues.map((issue) => issue.path.join('.'))).toEqual([path])
    expect(JSON.stringify(issues)).not.toContain(SECRET)
  })
})

describe('a message', () => {
  it.each([
    [{ content: SECRET }, 'role'],
    [{ role: null, content: SECRET }, 'role'],
    [{ role: '', content: SECRET }, 'role'],
    [{ role: 5, content: SECRET }, 'role'],
    [{ role: ['user'], content: SECRET }, 'role'],
    [{ role: 'r'.repeat(65), content: SECRET }, 'role'],
    [{ author: { role: 'user' }, content: SECRET }, 'role'],
    [SECRET, ''],
    [null, ''],
    [[], ''],
  ])('without a proper role is refused: %j', (message, path) => {
    const issues = ChatMessage.safeParse(message).error?.issues ?? []
    expect(issues.map((issue) => issue.path.join('.'))).toEqual([path])
    expect(JSON.stringify(issues)).not.toContain(SECRET)
  })

  it('reports its fault under its place in the request', () => {
    const body = {
      messages: [
        { role: 'user', content: SECRET },
        { role: 'user', content: [{ type: 'text', text: SECRET }, 5] },
        { role: 'assistant', tool_calls: [{ function: {} }] },
      ],
    }
    const issues = ChatCompletionRequest.safeParse(body).error?.issues ?? []
    expect(issues.map((issue) => issue.path)).toEqual([
      ['messages', 1, 'content', 1],
      ['messages', 2, 'tool_calls', 0, 'function', 'name'],
    ])
    expect(JSON.stringify(issues)).not.toContain(SECRET)
  })

  it('has at most 10,000 parts', () => {
    const many = (count: number) => ({ role: 'user', content: Array(count).fill('x') })
    expect(ChatMessage.safeParse(many(10_000)).success).toBe(true)
    expect(ChatMessage.safeParse(many(10_001)).error?.issues[0]?.path).toEqual(['content'])
  })

  it('shows its eight variants by name in the JSON Schema', () => {
    const refs = (ChatMessage.meta()!.anyOf as { $ref: string }[]).map(({ $ref }) => $ref)
    const names = refs.map((ref) => ref.replace('#/$defs/', ''))
    expect(names.toSorted()).toEqual(Object.keys(VARIANTS).toSorted())
    expect(names).toHaveLength(8)
  })
})
