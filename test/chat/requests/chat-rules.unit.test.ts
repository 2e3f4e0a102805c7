/** Rules between the fields of a chat request. */
import { describe, expect, it } from 'vitest'
import {
  type ChatCapabilities,
  findUnsupportedField,
  requireValidChatRequest,
  resolveAddGenerationPrompt,
  resolveToolChoice,
} from '../../../src/domain/chat/chat-rules.ts'
import { requireValidConstraints } from '../../../src/domain/chat/field-rules.ts'
import { resolveResponseFormatType } from '../../../src/domain/chat/response-format-type.ts'
import { ApiError } from '../../../src/errors.ts'
import { CHAT_DEFAULTS, ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'
import { named, PLAIN, RULES, SECRET, TOOLS, tools } from './chat-rule-rows.ts'

/** A body through the schema, as the route does it. */
function read(body: object): ChatCompletionRequest {
  return ChatCompletionRequest.parse({ messages: [{ role: 'user', content: SECRET }], ...body })
}

function refusalOf(body: object, capabilities: ChatCapabilities): ApiError {
  try {
    requireValidChatRequest(read(body), capabilities)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('The request passed.')
}

describe.each(Object.entries(RULES))('%s', (_, { passes, fails }) => {
  it.each(
    passes.map(
      ([body, capabilities = PLAIN]) => [JSON.stringify(body), body, capabilities] as const,
    ),
  )('passes %s', (_label, body, capabilities) => {
    expect(() => requireValidChatRequest(read(body), capabilities)).not.toThrow()
  })

  it.each(
    fails.map(([body, code, param, capabilities = PLAIN]) => {
      const label = `${JSON.stringify(body)} as ${code} at ${param}`
      return { label, body, code, param, capabilities }
    }),
  )('refuses $label', ({ body, code, param, capabilities }) => {
    const error = refusalOf(body, capabilities)
    expect({ code: error.code, param: error.param }).toEqual({ code, param })
    expect(error.message.startsWith(param.split('.')[0] ?? '')).toBe(true)
    expect(error.message).not.toContain(SECRET)
  })
})

describe('a request', () => {
  it('passes with every documented default', () => {
    const request = read({ ...CHAT_DEFAULTS, continue_final_message: false })
    expect(() => requireValidChatRequest(request, PLAIN)).not.toThrow()
  })

  it('gets the allowed values of tool_choice in the error', () => {
    expect(refusalOf({ tools, tool_choice: 'auto' }, PLAIN).message).toContain('none')
    const { message } = refusalOf({ tools, tool_choice: 'always' }, TOOLS)
    expect(message).toContain('none, auto, required')
  })

  it('gets the received value in the error if it is a number or from an enum', () => {
    expect(refusalOf({ priority: 7 }, PLAIN).message).toContain('7')
    expect(refusalOf({ reasoning_effort: 'xhigh' }, PLAIN).message).toContain('xhigh')
    expect(refusalOf({ min_tokens: 6, max_tokens: 5 }, PLAIN).message).toMatch(/6.*5/)
  })
})

describe('resolveAddGenerationPrompt', () => {
  it.each([
    [{}, true],
    [{ add_generation_prompt: false }, false],
    [{ add_generation_prompt: null }, true],
    [{ continue_final_message: true }, false],
    [{ continue_final_message: true, add_generation_prompt: null }, false],
    [{ continue_final_message: false }, true],
  ])('reads %j as %s', (body, expected) => {
    expect(resolveAddGenerationPrompt(read(body))).toBe(expected)
  })
})

describe('resolveToolChoice', () => {
  it.each([
    [{}, TOOLS, 'none'],
    [{ tools }, PLAIN, 'none'],
    [{ tools }, TOOLS, 'auto'],
    [{ tools: [] }, TOOLS, 'none'],
    [{ tools, tool_choice: null }, TOOLS, 'auto'],
    [{ tools, tool_choice: 'none' }, TOOLS, 'none'],
    [{ tools, tool_choice: 'required' }, TOOLS, 'required'],
    [{ tools, tool_choice: named('add') }, TOOLS, named('add')],
  ])('reads %j with %j as %j', (body, capabilities, expected) => {
    expect(resolveToolChoice(read(body), capabilities)).toEqual(expected)
  })
})

describe('resolveResponseFormatType', () => {
  it.each([
    [{}, null],
    [{ type: 'text' as const }, 'text'],
    [{ json_schema: { name: 'a' } }, 'json_schema'],
    [{ type: 'text' as const, json_schema: { name: 'a' } }, 'text'],
    [{ json_schema: null }, null],
  ])('reads %j as %s', (format, expected) => {
    expect(resolveResponseFormatType(format)).toBe(expected)
  })

  it('leaves a request without constraints alone', () => {
    expect(() => requireValidConstraints(read({}))).not.toThrow()
  })
})

describe('findUnsupportedField', () => {
  type Fields = Parameters<typeof findUnsupportedField>[1]
  const names = Object.keys(ChatCompletionRequest.shape) as (keyof ChatCompletionRequest)[]
  const all = (use: 'honoured' | 'forwarded' | 'ignored' | 'rejected') =>
    Object.fromEntries(names.map((name) => [name, use])) as Fields
  const rejected: Fields = { ...all('rejected'), messages: 'honoured' }

  it.each([
    {},
    CHAT_DEFAULTS,
    Object.fromEntries(names.filter((name) => name !== 'messages').map((name) => [name, null])),
    { stop: [], tools: [], documents: [], logit_bias: {}, engine_xargs: {}, stream_options: {} },
    { top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1, return_token_ids: false },
    { top_k: 0, response_format: { type: 'text' } },
    { a_field_of_tomorrow: 5 },
  ])('finds none in %j', (body) => {
    expect(findUnsupportedField(read(body), rejected)).toBeNull()
  })

  it.each([
    ['n', 2],
    ['top_k', 1],
    ['seed', 0],
    ['top_p', 0.5],
    ['temperature', 0],
    ['echo', true],
    ['add_generation_prompt', false],
    ['skip_special_tokens', false],
    ['stop', ['a']],
    ['stop', 'a'],
    ['logit_bias', { 5: 1 }],
    ['prompt_logprobs', 0],
    ['truncate_prompt_tokens', -1],
    ['response_format', { type: 'json_object' }],
    ['tool_choice', 'auto'],
    ['user', 'u-1'],
  ] as const)('finds %s set to %j', (name, value) => {
    const request = read({ [name]: value })
    expect(findUnsupportedField(request, rejected)).toBe(name)
    for (const use of ['honoured', 'forwarded', 'ignored'] as const) {
      expect(findUnsupportedField(request, { ...rejected, [name]: use })).toBeNull()
    }
  })
})
