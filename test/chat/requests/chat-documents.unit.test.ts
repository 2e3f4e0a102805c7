/** The JSON Schema of chat requests and answers, and what answers hold. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ChatMessage } from '../../../src/schemas/chat/chat-message.ts'
import { CHAT_DEFAULTS, ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'
import {
  ChatCompletionChunk,
  ChatCompletionResponse,
} from '../../../src/schemas/chat/chat-response.ts'
import { ResponseFormat, StructuredOutputs } from '../../../src/schemas/chat/structured-outputs.ts'
import { ModelListEntry, ModelListResponse } from '../../../src/schemas/models/model.ts'
import { INT64, messages } from './chat-request-rows.ts'

type Json = { readonly [key: string]: unknown }

/** Whether a property has a description; a named one has it among the definitions. */
function isDescribed(property: Json): boolean {
  return typeof property.description === 'string' || '$ref' in property || 'allOf' in property
}

/** Paths of all properties in a JSON Schema that have no description. */
function listUndescribed(node: unknown, path = ''): string[] {
  if (Array.isArray(node)) return node.flatMap((entry) => listUndescribed(entry, path))
  if (typeof node !== 'object' || node === null) return []
  const { properties = {}, ...rest } = node as Json & { properties?: Json }
  const own = Object.entries(properties)
    .filter(([, property]) => !isDescribed(property as Json))
    .map(([key]) => `${path}/${key}`)
  const below = Object.entries({ ...properties, ...rest }).flatMap(([key, value]) =>
    listUndescribed(value, `${path}/${key}`),
  )
  return [...own, ...below]
}

/** The JSON Schema of what is read; one with a name stands among the definitions. */
function readSchema(schema: z.ZodType): z.core.JSONSchema.JSONSchema {
  const document = z.toJSONSchema(schema, { io: 'input' })
  const name = document.$ref?.split('/').at(-1)
  return (name === undefined ? document : document.$defs?.[name]) as z.core.JSONSchema.JSONSchema
}

describe('the JSON Schema', () => {
  const SCHEMAS = {
    ChatCompletionRequest,
    ChatMessage,
    StructuredOutputs,
    ResponseFormat,
    ChatCompletionResponse,
    ChatCompletionChunk,
    ModelListEntry,
    ModelListResponse,
  }
  const TARGETS = ['draft-2020-12', 'openapi-3.0', 'draft-07'] as const

  it.each(Object.entries(SCHEMAS))('of %s describes every property', (_, schema) => {
    for (const io of ['input', 'output'] as const) {
      for (const target of TARGETS) {
        expect(listUndescribed(z.toJSONSchema(schema, { io, target }))).toEqual([])
      }
    }
  })

  it('of the request tells the §8 chat defaults and no others', () => {
    const { properties = {} } = readSchema(ChatCompletionRequest)
    const told = Object.entries(properties as Record<string, Json>)
      .filter(([, property]) => 'default' in property)
      .map(([name, property]) => [name, property.default])
    expect(Object.fromEntries(told)).toEqual(CHAT_DEFAULTS)
  })

  it('of the request requires messages only', () => {
    const { required, additionalProperties } = readSchema(ChatCompletionRequest)
    expect(required).toEqual(['messages'])
    expect(additionalProperties).toEqual({})
  })

  it('of the defaults is a valid request', () => {
    expect(ChatCompletionRequest.safeParse({ messages, ...CHAT_DEFAULTS }).success).toBe(true)
  })

  it('of the request holds the shapes of list entries and map values', () => {
    const { properties = {} } = readSchema(ChatCompletionRequest)
    expect(properties).toMatchObject({
      messages: { type: 'array', minItems: 1, maxItems: 10_000, items: { type: 'object' } },
      seed: { anyOf: [{ type: 'integer', minimum: -INT64, maximum: INT64 }, { type: 'null' }] },
      stop_token_ids: { anyOf: [{ items: { type: 'integer', minimum: 0 } }, { type: 'null' }] },
      logit_bias: { anyOf: [{ additionalProperties: { type: 'number' } }, { type: 'null' }] },
    })
  })
})

describe('the answers', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const choice = {
    index: 0,
    message: { role: 'assistant', content: 'Hi', annotations: [], more: 1 },
    logprobs: null,
    finish_reason: 'stop',
    stop_reason: null,
  }
  const answer = { model: 'tiny', choices: [choice], usage }

  it.each([
    answer,
    { ...answer, id: 'chatcmpl-1', object: 'chat.completion', created: 1, service_tier: null },
    { ...answer, choices: [{ ...choice, stop_reason: 'END' }], something_new: [1] },
    { ...answer, choices: [{ ...choice, stop_reason: 2, token_ids: [1] }] },
    { ...answer, prompt_logprobs: [null, { 5: { logprob: -1, rank: 1, decoded_token: 'a' } }] },
  ])('keep every key of %j', (body) => {
    expect(ChatCompletionResponse.parse(body)).toEqual(body)
  })

  it.each(['model', 'choices', 'usage'])('require %s', (field) => {
    const result = ChatCompletionResponse.safeParse({ ...answer, [field]: undefined })
    expect(result.error?.issues[0]?.path).toEqual([field])
  })

  it.each([
    ['object', 'list'],
    ['service_tier', 'gold'],
  ])('refuse another %s', (field, value) => {
    expect(ChatCompletionResponse.safeParse({ ...answer, [field]: value }).success).toBe(false)
  })

  it('come in chunks that share id, object, created and model', () => {
    const chunk = {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'tiny',
      choices: [{ index: 0, delta: { content: 'a' }, logprobs: null, finish_reason: null }],
    }
    expect(ChatCompletionChunk.parse(chunk)).toEqual(chunk)
    expect(ChatCompletionChunk.parse({ ...chunk, choices: [], usage })).toBeTruthy()
    expect(ChatCompletionChunk.safeParse({ ...chunk, choices: undefined }).success).toBe(false)
  })

  it('list models with the keys of the spec and more', () => {
    const entry = { id: 'a/b', object: 'model', created: 1, owned_by: 'weft', root: 'a/b' }
    const list = { object: 'list', data: [{ ...entry, max_model_len: 512 }] }
    expect(ModelListResponse.parse(list)).toEqual(list)
    expect(ModelListEntry.safeParse({ ...entry, root: undefined }).success).toBe(false)
  })
})
