/** Chats to prompts of the AI SDK, and parts of its streams to chunks. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { parseContinuation, renderContinuation } from '../../../src/domain/chat/continuation.ts'
import { toTurn } from '../../../src/domain/chat/messages/chat-turns.ts'
import { findSentLimit } from '../../../src/inference/ai-sdk/call-options.ts'
import { createChunkTranslation } from '../../../src/inference/ai-sdk/chunks.ts'
import { toFinishReason, toUsage } from '../../../src/inference/ai-sdk/completion.ts'
import { fieldOfFeature, traitsOf } from '../../../src/inference/ai-sdk/fields.ts'
import { toPrompt } from '../../../src/inference/ai-sdk/prompt.ts'
import type { ChatMessage } from '../../../src/schemas/chat/chat-message.ts'

const RULES = { supportedUrls: {}, takesImagesOnly: false }
const prompt = (messages: ChatMessage[], name = '@ai-sdk/google', rules = RULES) =>
  toPrompt(messages, traitsOf(name), rules)

const call = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{"n":9007199254740993}' },
  ...more,
})

describe('a prompt', () => {
  it('has the results of one turn in one message, with the names of their tools', () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'text', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
    ]
    expect(prompt(messages).slice(2)).toEqual([
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'f',
            output: { type: 'text', value: 'one' },
          },
          {
            type: 'tool-result',
            toolCallId: 'b',
            toolName: 'f',
            output: { type: 'text', value: 'two' },
          },
        ],
      },
    ])
    expect(JSON.stringify(prompt(messages)[1])).toContain('{"n":9007199254740993}')
  })

  it('has the files of a result in a message of the user after it', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: [image] },
      { role: 'user', content: 'go on' },
    ]
    expect(prompt(messages).slice(1)).toMatchObject([
      { role: 'tool', content: [{ output: { value: 'The result is in the next message.' } }] },
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
          { type: 'text', text: 'go on' },
        ],
      },
    ])
  })

  it('has a later system message in its position, or as text of the user where the package refuses it', () => {
    const messages = [
      { role: 'system', content: 'first' },
      { role: 'user', content: 'hi' },
      { role: 'developer', content: 'later' },
    ]
    const roles = (name: string) => prompt(messages, name).map(({ role }) => role)
    expect(roles('@ai-sdk/groq')).toEqual(['system', 'user', 'system'])
    for (const name of ['@ai-sdk/google', '@ai-sdk/amazon-bedrock', 'unknown-provider']) {
      expect(roles(name)).toEqual(['system', 'user'])
    }
  })

  it('has reasoning with its signature, without one only where the package takes it, and none of other makers', () => {
    const reasoning = (more: object, name: string) =>
      prompt([{ role: 'assistant', content: 'x', reasoning: 'why', ...more }], name)[0]?.content
        .length
    const signature = renderContinuation({ amazonBedrock: { signature: 's' } })
    const details = [{ type: 'reasoning.text', text: 'why', signature }]
    expect(reasoning({ reasoning_details: details }, '@ai-sdk/amazon-bedrock')).toBe(2)
    expect(reasoning({ thinking_blocks: [{ thinking: 'why', signature }] }, '@ai-sdk/xai')).toBe(2)
    const foreign = [{ type: 'reasoning.text', text: 'why', signature: 'EqQBCg' }]
    expect(reasoning({ reasoning_details: foreign }, '@ai-sdk/amazon-bedrock')).toBe(1)
    expect(reasoning({}, '@ai-sdk/google')).toBe(1)
    expect(reasoning({}, '@ai-sdk/mistral')).toBe(2)
  })

  it('has the signature of a call, kept with the call or beside it', () => {
    const kept = { providerOptions: { google: { thoughtSignature: 'sig' } } }
    const own = call('a', { extra_content: { google: { thought_signature: 'sig' } } })
    const data = renderContinuation({ google: { thoughtSignature: 'sig' } }, 'a')
    const beside = [{ type: 'reasoning.encrypted', data }]
    for (const message of [
      { role: 'assistant', content: null, tool_calls: [own] },
      { role: 'assistant', content: null, tool_calls: [call('a')], reasoning_details: beside },
    ]) {
      expect(prompt([message])).toMatchObject([{ role: 'assistant', content: [kept] }])
    }
  })

  it.each([
    [{ role: 'tool', tool_call_id: 'gone', content: 'x' }, 'messages[0].tool_call_id'],
    [{ role: 'tool', content: 'x' }, 'messages[0].tool_call_id'],
    [{ role: 'function', name: 'f', content: 'x' }, 'messages[0].role'],
    [{ role: 'assistant', function_call: { name: 'f' } }, 'messages[0].function_call'],
    [
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '[' } }] },
      'messages[0].tool_calls[0].function.arguments',
    ],
    [{ role: 'user', content: [{ type: 'refusal', refusal: 'x' }] }, 'messages[0].content[0].type'],
    [
      { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
      'messages[0].content[0].file.file_data',
    ],
    [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] },
      'messages[0].content[0].image_url',
    ],
  ])('is refused for %o', (message, param) => {
    expect(() => prompt([message])).toThrow(expect.objectContaining({ param }))
  })

  it('has the address of a file only if the package says that the provider fetches it', () => {
    const supportedUrls = { 'image/*': [/^https:\/\/ok\.example\//g] }
    const image = (url: string) => [
      { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
    ]
    const rules = { supportedUrls, takesImagesOnly: false }
    // A pattern with a state must not depend on the request before.
    for (const _ of [1, 2]) {
      expect(prompt(image('https://ok.example/a'), 'x', rules)).toMatchObject([
        {
          content: [{ type: 'file', data: { type: 'url', url: new URL('https://ok.example/a') } }],
        },
      ])
    }
    expect(() => prompt(image('https://no.example/a'), 'x', rules)).toThrow('data URL')
  })
})

describe('a continuation', () => {
  it('keeps known members only, whatever a client puts into it', () => {
    const forged = { google: { thoughtSignature: 's', cachedContent: 'x' }, evil: { a: 'b' } }
    const text = `ais1.${Buffer.from(JSON.stringify({ m: forged })).toString('base64url')}`
    expect(parseContinuation(text)).toEqual({
      metadata: { google: { thoughtSignature: 's' } },
      callId: null,
    })
  })

  it("is left out of a message at Anthropic's API, which could not read it", () => {
    const signature = renderContinuation({ google: { thoughtSignature: 's' } })
    const message = { role: 'assistant', content: 'text' }
    for (const more of [
      { reasoning_details: [{ type: 'reasoning.text', text: 'why', signature }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: signature }] },
      { thinking_blocks: [{ type: 'thinking', thinking: 'why', signature }] },
    ]) {
      const content = [{ type: 'text', text: 'text' }]
      expect(toTurn({ ...message, ...more }, 'messages[0]')).toEqual({ role: 'assistant', content })
    }
  })

  it.each(['', 'ais1.', 'ais1.!!', 'ais1.W10', 'EqQBCg', 7, null])('is not %o', (text) => {
    expect(parseContinuation(text)).toBeNull()
  })
})

const NAMES = { id: 'id', model: 'm', created: 1, showsReasoning: true }

function deltas(parts: readonly LanguageModelV4StreamPart[], names = NAMES) {
  const translation = createChunkTranslation(names)
  return parts.flatMap(translation.add).map(({ choices }) => Object(choices)[0].delta)
}

describe('chunks', () => {
  it('come in order although blocks overlap', () => {
    const told = deltas([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'a' },
      { type: 'tool-input-start', id: 'c', toolName: 'f' },
      { type: 'tool-input-delta', id: 'c', delta: '{}' },
      { type: 'text-end', id: '1' },
      { type: 'tool-input-end', id: 'c' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: '{}' },
    ])
    expect(told).toEqual([
      { role: 'assistant', content: 'a' },
      {
        tool_calls: [
          { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
    ])
  })

  it('have a call that comes as a whole, and arguments where there are none', () => {
    const told = deltas([
      { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"a":1}' },
      { type: 'tool-input-start', id: 'b', toolName: 'g' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'g', input: '' },
    ])
    const texts = told.flatMap(({ tool_calls: [one] }) => one.function.arguments)
    expect(texts).toEqual(['', '{"a":1}', '', '{}'])
    expect(told.map(({ tool_calls: [one] }) => one.index)).toEqual([0, 0, 1, 1])
  })

  it('have the signature of reasoning that comes after its text, and no text for a client that wants none', () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'why' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { x: { signature: 's' } } },
      { type: 'reasoning-end', id: '0' },
    ]
    const signature = renderContinuation({ x: { signature: 's' } })
    expect(deltas(parts).at(-1)).toEqual({
      reasoning_details: [{ type: 'reasoning.text', text: 'why', signature }],
    })
    expect(JSON.stringify(deltas(parts, { ...NAMES, showsReasoning: false }))).not.toContain('why')
  })

  it('have the signature of a call that is known only at its end', () => {
    const providerMetadata = { google: { thoughtSignature: 'sig' } }
    const told = deltas([
      { type: 'tool-input-start', id: 'a', toolName: 'f' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{}', providerMetadata },
    ])
    expect(told.at(-1)).toEqual({
      tool_calls: [{ index: 0, extra_content: { google: { thought_signature: 'sig' } } }],
    })
  })

  it('leave out calls that the provider has run itself', () => {
    const part = { toolCallId: 'a', toolName: 'f', input: '{}', providerExecuted: true } as const
    expect(deltas([{ type: 'tool-call', ...part }])).toEqual([])
  })
})

describe('the end', () => {
  it.each([
    ['stop', 'x', 'stop'],
    ['length', 'x', 'length'],
    ['content-filter', 'x', 'content_filter'],
    ['tool-calls', 'x', 'tool_calls'],
    ['other', 'LANGUAGE', 'stop'],
    ['other', 'TIMEOUT', null],
    ['other', 'malformed_tool_use', null],
    ['other', undefined, null],
    ['error', 'ERROR', null],
    ['interrupted', undefined, null],
  ])('%s (%s) is %s', (unified, raw, expected) => {
    expect(toFinishReason({ unified, raw } as Parameters<typeof toFinishReason>[0])).toBe(expected)
  })

  it('has no usage that the package does not know, or that a broken stream counts as 0', () => {
    const usage = (input: number | undefined, output: number | undefined) =>
      toUsage({
        inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: output, text: output, reasoning: undefined },
      })
    expect(usage(undefined, 1)).toBeNull()
    expect(usage(0, 0)).toBeNull()
    expect(usage(3, 0)).toEqual({ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 })
  })
})

describe('what a package tells', () => {
  it.each([
    [{ max_tokens: 5 }, 5],
    [{ generationConfig: { maxOutputTokens: 6 } }, 6],
    [{ inferenceConfig: { maxTokens: 7 } }, 7],
    [{ max_output_tokens: 8 }, 8],
    [{ messages: [] }, null],
  ])('of the limit in %o is %s', (body, limit) => {
    expect(findSentLimit(body)).toBe(limit)
  })

  it.each([
    ['topK', 'top_k'],
    ['stopSequences', 'stop'],
    ['responseFormat', 'response_format'],
    ['JSON response format', 'response_format'],
    ['toolChoice', 'tool_choice'],
    ['something', null],
  ])('of %s is the field %s', (feature, field) => {
    expect(fieldOfFeature(feature)).toBe(field)
  })
})
