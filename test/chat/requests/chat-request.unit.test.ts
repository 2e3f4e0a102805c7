/** Every field of a chat request: what it takes and what it refuses, one row per field. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ChatCompletionChunk } from '../../../src/schemas/chat/chat-chunk.ts'
import { ChatMessage } from '../../../src/schemas/chat/chat-message.ts'
import { CHAT_DEFAULTS, ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'
import { ChatCompletionResponse } from '../../../src/schemas/chat/chat-response.ts'
import { INT64_BOUND } from '../../../src/schemas/chat/chat-sampling-fields.ts'
import { ResponseFormat, StructuredOutputs } from '../../../src/schemas/chat/structured-outputs.ts'
import { ModelListEntry, ModelListResponse } from '../../../src/schemas/models/model.ts'

/** The fields of the spec's table, written out: the schema and the rows below must equal it. */
const SPEC_FIELDS = [
  'messages',
  'model',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'presence_penalty',
  'response_format',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'reasoning_effort',
  'include_reasoning',
  'parallel_tool_calls',
  'user',
  'use_beam_search',
  'top_k',
  'min_p',
  'repetition_penalty',
  'length_penalty',
  'stop_token_ids',
  'include_stop_str_in_output',
  'ignore_eos',
  'min_tokens',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  'truncate_prompt_tokens',
  'prompt_logprobs',
  'allowed_token_ids',
  'bad_words',
  'echo',
  'add_generation_prompt',
  'continue_final_message',
  'add_special_tokens',
  'documents',
  'chat_template',
  'chat_template_kwargs',
  'mm_processor_kwargs',
  'structured_outputs',
  'priority',
  'request_id',
  'logits_processors',
  'return_tokens_as_token_ids',
  'return_token_ids',
  'cache_salt',
  'kv_transfer_params',
  'engine_xargs',
] as const
type SpecField = (typeof SPEC_FIELDS)[number]

// A schema that keeps unknown keys would make this `string`, and no record over it total.
const hasClosedKeys: string extends keyof ChatCompletionRequest ? false : true = true
const hasSpecKeys: [keyof ChatCompletionRequest] extends [SpecField] ? true : false = true

interface Row {
  readonly accepts: readonly unknown[]
  /** A refused value, and the path below the field where the fault is. */
  readonly rejects: readonly (readonly [value: unknown, path?: string])[]
}

const SECRET = 'SECRET-PROMPT'
const INT64 = 9_223_372_036_854_776_000
const messages = [{ role: 'user', content: 'Hello' }]
const tool = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } }
const many = (count: number, value: unknown) => Array.from({ length: count }, () => value)
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index), 1]))

const flag: Row = { accepts: [true, false], rejects: [['true'], [1], [0], [{}], [SECRET]] }
const anyObject: Row = {
  accepts: [{}, { a: { b: [1, null] } }, keys(256)],
  rejects: [[[]], ['x'], [1], [keys(257)], [SECRET]],
}
const penalty: Row = {
  accepts: [-2, 0, 0.5, 2],
  rejects: [[-2.01], [2.01], ['0.5'], [true], [Number.NaN], [SECRET]],
}
const tokenCount: Row = {
  accepts: [1, 4096, 1e12],
  rejects: [[0], [-1], [1.5], ['16'], [SECRET]],
}
const logprobCount: Row = {
  accepts: [-1, 0, 1, 20],
  rejects: [[-2], [21], [1.5], ['5'], [true]],
}
const tokenIds = (min: number): Row => ({
  accepts: [[0], [1, 2, 2], many(100_000, 7), ...(min === 0 ? [[]] : [])],
  rejects: [
    [[-1], '0'],
    [[1, 2.5], '1'],
    [[1, SECRET], '1'],
    [5],
    [many(100_001, 7)],
    ...(min === 0 ? [] : [[[]] as const]),
  ],
})

const ROWS: Readonly<Record<SpecField, Row>> = {
  messages: {
    accepts: [messages, many(10_000, messages[0])],
    rejects: [
      [[]],
      [undefined],
      [null],
      [SECRET],
      [{}],
      [[SECRET], '0'],
      [[messages[0], { content: SECRET }], '1.role'],
      [[{ role: 'user', content: 5 }], '0.content'],
      [many(10_001, messages[0])],
    ],
  },
  model: {
    accepts: ['tiny', 'acme/big:7b', '', 'm'.repeat(512)],
    rejects: [[5], [['tiny']], ['m'.repeat(513)]],
  },
  frequency_penalty: penalty,
  presence_penalty: penalty,
  logit_bias: {
    accepts: [{}, { 50256: -100, 7: 250.5 }],
    rejects: [
      [{ [SECRET]: 1 }],
      [{ '-1': 1 }],
      [{ '1.5': 1 }],
      [{ 5: '1' }, '5'],
      [{ 5: null }, '5'],
      [[]],
      [SECRET],
    ],
  },
  logprobs: flag,
  top_logprobs: logprobCount,
  prompt_logprobs: logprobCount,
  max_tokens: tokenCount,
  max_completion_tokens: tokenCount,
  n: { accepts: [1, 128], rejects: [[0], [-1], [129], [1.5], ['2']] },
  response_format: {
    accepts: [
      {},
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'answer', schema: {}, strict: true } },
      { json_schema: { name: 'answer', description: 'An answer.', schema: null, strict: null } },
      { json_schema: { name: 'n'.repeat(256), description: 'd'.repeat(65_536) } },
      { type: 'structural_tag', format: { type: 'any_text' } },
    ],
    rejects: [
      ['json_object'],
      [[]],
      [{ type: SECRET }, 'type'],
      [{ type: 'json_schema', json_schema: {} }, 'json_schema.name'],
      [{ json_schema: { name: '' } }, 'json_schema.name'],
      [{ json_schema: { name: 'n'.repeat(257) } }, 'json_schema.name'],
      [{ json_schema: { name: 'a', description: 'd'.repeat(65_537) } }, 'json_schema.description'],
      [{ json_schema: { name: 'a', schema: SECRET } }, 'json_schema.schema'],
      [{ json_schema: { name: 'a', strict: 'yes' } }, 'json_schema.strict'],
      [{ json_schema: { name: 'a', description: 5 } }, 'json_schema.description'],
    ],
  },
  seed: { accepts: [0, -1, 42, INT64, -INT64], rejects: [[1e19], [-1e19], [0.5], ['42']] },
  stop: {
    accepts: ['\n', [], ['a', 'b'], many(64, 'x'), 'x'.repeat(1_024)],
    rejects: [
      [''],
      [[''], '0'],
      [['a', 5], '1'],
      [['a', null], '1'],
      [many(65, 'x')],
      ['x'.repeat(1_025)],
      [['x'.repeat(1_025)], '0'],
      [5],
      [{}],
    ],
  },
  stream: flag,
  stream_options: {
    accepts: [
      {},
      { include_usage: true },
      { include_usage: null, continuous_usage_stats: false, more: 1 },
    ],
    rejects: [
      [true],
      [[]],
      [{ include_usage: 'true' }, 'include_usage'],
      [{ continuous_usage_stats: 1 }, 'continuous_usage_stats'],
    ],
  },
  temperature: { accepts: [0, 1e-6, 0.7, 2], rejects: [[-0.1], [2.1], ['0.7'], [true], [SECRET]] },
  top_p: { accepts: [0.001, 1], rejects: [[0], [-1], [1.01], ['1']] },
  top_k: { accepts: [-1, 0, 40], rejects: [[-2], [1.5], ['40']] },
  min_p: { accepts: [0, 0.05, 1], rejects: [[-0.01], [1.01], ['0']] },
  repetition_penalty: { accepts: [0.01, 1, 1.3], rejects: [[0], [-1], ['1']] },
  length_penalty: { accepts: [-1, 0, 1, 2.5], rejects: [['1'], [true], [{}]] },
  tools: {
    accepts: [
      [],
      [tool],
      [{ function: { name: 'a' } }],
      [{ function: { name: 'n'.repeat(256), description: 'd'.repeat(65_536), parameters: null } }],
      many(512, tool),
    ],
    rejects: [
      [tool],
      [[{}], '0.function'],
      [[tool, { type: 'custom', function: { name: 'add' } }], '1.type'],
      [[{ type: 'function', function: {} }], '0.function.name'],
      [[{ function: { name: '' } }], '0.function.name'],
      [[{ function: { name: 'n'.repeat(257) } }], '0.function.name'],
      [[{ function: { name: 'a', description: 'd'.repeat(65_537) } }], '0.function.description'],
      [[{ function: { name: 'a', parameters: SECRET } }], '0.function.parameters'],
      [[{ function: { name: 'a', description: 5 } }], '0.function.description'],
      [many(513, tool)],
    ],
  },
  tool_choice: {
    accepts: [
      'none',
      'auto',
      'required',
      'x',
      'x'.repeat(64),
      { type: 'function', function: { name: 'a' } },
      { type: 'function', function: { name: 'n'.repeat(256) } },
    ],
    rejects: [
      [''],
      [5],
      [true],
      [{}],
      [{ type: 'function' }],
      ['x'.repeat(65)],
      [{ type: 'tool', function: { name: 'a' } }],
      [{ type: 'function', function: { name: '' } }, 'function.name'],
      [{ type: 'function', function: { name: 'n'.repeat(257) } }, 'function.name'],
    ],
  },
  reasoning_effort: {
    accepts: ['low', 'medium', 'high', 'none', 'minimal', 'xhigh', 'max'],
    rejects: [[''], ['LOW'], [SECRET], [1]],
  },
  include_reasoning: flag,
  parallel_tool_calls: flag,
  user: { accepts: ['', 'u-1', 'u'.repeat(1_024)], rejects: [[5], [{}], ['u'.repeat(1_025)]] },
  use_beam_search: flag,
  stop_token_ids: tokenIds(0),
  allowed_token_ids: tokenIds(1),
  include_stop_str_in_output: flag,
  ignore_eos: flag,
  min_tokens: { accepts: [0, 1, 100], rejects: [[-1], [0.5], ['1']] },
  skip_special_tokens: flag,
  spaces_between_special_tokens: flag,
  truncate_prompt_tokens: {
    accepts: [-1, 0, 512, INT64],
    rejects: [[-2], [1e19], [0.5], ['512']],
  },
  bad_words: {
    accepts: [[], ['damn'], many(1_000, 'x'), ['x'.repeat(1_024)]],
    rejects: [
      ['damn'],
      [[''], '0'],
      [['a', 5], '1'],
      [many(1_001, 'x')],
      [['x'.repeat(1_025)], '0'],
    ],
  },
  echo: flag,
  add_generation_prompt: flag,
  continue_final_message: flag,
  add_special_tokens: flag,
  documents: {
    accepts: [[], [{ title: 'A', text: 'B' }], [{ any: { thing: 1 } }], many(1_000, {})],
    rejects: [[{}], [[SECRET], '0'], [[{}, []], '1'], [[null], '0'], [many(1_001, {})]],
  },
  chat_template: {
    accepts: ['{{ messages }}', 'x'.repeat(65_536)],
    rejects: [[5], [{}], ['x'.repeat(65_537)]],
  },
  chat_template_kwargs: anyObject,
  mm_processor_kwargs: anyObject,
  kv_transfer_params: anyObject,
  structured_outputs: {
    accepts: [
      { json: '{"type":"object"}' },
      { json: { type: 'object' } },
      { regex: '[a-z]+' },
      { choice: ['yes', 'no'] },
      { choice: ['', 'x'.repeat(10_000)] },
      { choice: many(10_000, 'x') },
      { grammar: 'root ::= "a"' },
      { json_object: true },
      { json_object: false, choice: ['a'] },
      { structural_tag: '{}', whitespace_pattern: ' ?' },
      { regex: 'a', disable_fallback: true, disable_any_whitespace: true },
      { regex: 'a', disable_additional_properties: false, _backend: 'x', _backend_was_auto: true },
      { regex: 'a', json: null, something_new: 1 },
    ],
    rejects: [
      [SECRET],
      [[]],
      [{ json: '' }, 'json'],
      [{ json: 5 }, 'json'],
      [{ regex: '' }, 'regex'],
      [{ regex: `${SECRET}\0` }, 'regex'],
      [{ choice: [] }, 'choice'],
      [{ choice: ['a', 5] }, 'choice.1'],
      [{ choice: 'a' }, 'choice'],
      [{ choice: ['x'.repeat(10_001)] }, 'choice.0'],
      [{ choice: many(10_001, 'x') }, 'choice'],
      [{ regex: 'x'.repeat(1_048_577) }, 'regex'],
      [{ grammar: '' }, 'grammar'],
      [{ json_object: 'true' }, 'json_object'],
      [{ structural_tag: {} }, 'structural_tag'],
      [{ whitespace_pattern: 5 }, 'whitespace_pattern'],
      [{ disable_fallback: 1 }, 'disable_fallback'],
      [{ disable_any_whitespace: 1 }, 'disable_any_whitespace'],
      [{ disable_additional_properties: 1 }, 'disable_additional_properties'],
      [{ _backend: 1 }, '_backend'],
      [{ _backend_was_auto: 1 }, '_backend_was_auto'],
    ],
  },
  priority: { accepts: [0, -5, 10], rejects: [[0.5], ['0'], [true], [1e300]] },
  request_id: {
    accepts: ['a', 'A-z_0.9:x', 'x'.repeat(128)],
    rejects: [[''], ['x'.repeat(129)], ['a b'], ['a\n'], ['ä'], [5]],
  },
  logits_processors: {
    accepts: [
      [],
      ['my.module.Processor'],
      [{ qualname: 'a.B', args: [1, 'x'], kwargs: { k: null } }],
      [{ qualname: 'a', args: null, kwargs: null }],
      ['a', 'q'.repeat(1_024)],
      [{ qualname: 'q'.repeat(1_024), args: many(1_024, 1) }],
      many(64, 'a.B'),
    ],
    rejects: [
      ['a.B'],
      [[''], '0'],
      [[5], '0'],
      [[{}], '0'],
      [['a.B', { qualname: 'a.B', extra: SECRET }], '1'],
      [[{ qualname: 'a.B', args: {} }], '0'],
      [[{ qualname: '' }], '0.qualname'],
      [[{ qualname: 'q'.repeat(1_025) }], '0.qualname'],
      [[{ qualname: 'a.B', args: many(1_025, 1) }], '0.args'],
      [['q'.repeat(1_025)], '0'],
      [many(65, 'a.B')],
    ],
  },
  return_tokens_as_token_ids: flag,
  return_token_ids: flag,
  cache_salt: {
    accepts: ['s', 's'.repeat(128)],
    rejects: [[''], ['s'.repeat(129)], ['a@b'], ['a/b'], ['a\\b'], ['a\0b'], [5]],
  },
  engine_xargs: {
    accepts: [
      {},
      { a: 'x', b: 1, c: 1.5, d: ['x', 2], e: [] },
      { a: 'x'.repeat(65_536), b: many(10_000, 1) },
      keys(256),
    ],
    rejects: [
      [[]],
      [SECRET],
      [{ a: { b: 1 } }, 'a'],
      [{ a: true }, 'a'],
      [{ a: null }, 'a'],
      [{ a: ['x', {}] }, 'a.1'],
      [{ a: [[1]] }, 'a.0'],
      [{ a: 'x'.repeat(65_537) }, 'a'],
      [{ a: many(10_001, 1) }, 'a'],
      [keys(257)],
    ],
  },
}

/** The same value, which counts how many members of it and of what is inside are read. */
function countReads(value: unknown, seen: { reads: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof key !== 'string' || key === 'length' || !Object.hasOwn(target, key)) return member
      seen.reads++
      return countReads(member, seen)
    },
  })
}

/** Entries of the longest list or object in a value. */
function longestOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return Math.max(members.length, ...[...new Set(members)].map(longestOf))
}

const parse = (body: unknown) => ChatCompletionRequest.safeParse(body)

function label(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'undefined')
  return text.length > 60 ? `${text.slice(0, 60)}... (${text.length})` : text
}

describe('the fields of a chat request', () => {
  it('are those of the spec, no more and no fewer', () => {
    expect(hasClosedKeys && hasSpecKeys).toBe(true)
    expect(Object.keys(ChatCompletionRequest.shape).toSorted()).toEqual(SPEC_FIELDS.toSorted())
    expect(Object.keys(ROWS).toSorted()).toEqual(SPEC_FIELDS.toSorted())
    expect(SPEC_FIELDS).toHaveLength(55)
  })

  describe.each(SPEC_FIELDS)('§4.3 %s', (field) => {
    const { accepts, rejects } = ROWS[field]

    it.each(accepts.map((value) => [label(value), value]))('takes %s', (_, value) => {
      const body = { messages, [field]: value }
      const result = parse(body)
      expect(result.error?.issues).toBeUndefined()
      expect(result.data).toEqual(body)
    })

    const named = (path?: string) => (path === undefined ? '' : `§4.3 ${field} ${path} of `)
    it.each(rejects.map(([value, path]) => [named(path) + label(value), value, path] as const))(
      'refuses %s',
      (_, value, path) => {
        const issues = parse({ messages, [field]: value }).error?.issues ?? []
        expect(issues).toHaveLength(1)
        const below = path === undefined ? '' : `.${path}`
        expect(issues[0]?.path.join('.')).toBe(`${field}${below}`)
        expect(issues[0]?.message).not.toContain(SECRET)
        expect(issues[0]?.message).toMatch(/^(?:is required and )?must .*[^.]$/)
      },
    )
  })
})

describe('a chat request', () => {
  it('may hold null in every optional field', () => {
    const optional = SPEC_FIELDS.filter((field) => field !== 'messages')
    const body = { messages, ...Object.fromEntries(optional.map((field) => [field, null])) }
    expect(parse(body).data).toEqual(body)
  })

  it('has no default filled in, so that absent and set can be told apart', () => {
    expect(parse({ messages }).data).toEqual({ messages })
  })

  it.each([
    ['§8 chat seed', 'seed', -INT64_BOUND, INT64_BOUND],
    ['§8 chat truncate_prompt_tokens', 'truncate_prompt_tokens', -1, INT64_BOUND],
  ])('holds %s to its range', (_, field, min, max) => {
    for (const value of [min, 0, max])
      expect(parse({ messages, [field]: value }).success).toBe(true)
    for (const value of [min - (min === -1 ? 1 : 2048), max + 2048]) {
      expect(parse({ messages, [field]: value }).success).toBe(false)
    }
  })

  it('keeps fields that it does not know, also inside of known ones', () => {
    const body = {
      messages: [{ role: 'user', content: 'Hello', more: 1 }],
      tools: [{ ...tool, more: 1 }],
      metadata: { a: 'b' },
      store: false,
      thinking_token_budget: 5,
    }
    expect(parse(body).data).toEqual(body)
  })

  it.each([null, [], 'text', 5, undefined])('is not %j', (body) => {
    const issues = parse(body).error?.issues
    expect(issues).toHaveLength(1)
    expect(issues?.[0]?.path).toEqual([])
  })

  it('echoes a refused number but no refused text', () => {
    const messageOf = (body: object) => parse({ messages, ...body }).error?.issues[0]?.message
    expect(messageOf({ temperature: 3 })).toContain('not 3')
    expect(messageOf({ temperature: SECRET })).not.toContain(SECRET)
  })

  it('reports ten faults of a list, then no more', () => {
    expect(parse({ messages: many(10, 5) }).error?.issues).toHaveLength(10)
    expect(parse({ messages: many(11, 5) }).error?.issues).toHaveLength(10)
  })

  const hostile = { role: SECRET.repeat(10), content: [5, { type: 7 }, null], tool_calls: SECRET }
  it.each([
    ['messages', many(10_000, hostile)],
    ['messages', many(10_000, { role: 'user', content: many(50, 5) })],
    ['messages', [{ role: 'user', content: many(10_000, { type: '' }) }]],
    ['messages', [{ role: 'assistant', tool_calls: many(512, SECRET) }]],
    ['stop_token_ids', many(100_000, SECRET)],
    ['documents', many(1_000, SECRET)],
    ['tools', many(512, { function: SECRET })],
    ['logit_bias', Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [at, SECRET]))],
    ['engine_xargs', { a: many(10_000, {}) }],
    ['engine_xargs', { [SECRET.repeat(1_000)]: {} }],
  ])('reports few faults and no text of a hostile %s', (field, value) => {
    const seen = { reads: 0 }
    const issues = parse({ messages, [field]: countReads(value, seen) }).error?.issues ?? []
    // Each entry of the longest list once, and a few of what is inside of them.
    expect(seen.reads).toBeLessThanOrEqual(longestOf(value) + 100)
    expect(issues.length).toBeGreaterThan(0)
    expect(issues.length).toBeLessThanOrEqual(10)
    expect(JSON.stringify(issues)).not.toContain(SECRET)
    expect(JSON.stringify(issues).length).toBeLessThan(20_000)
  })
})

type Json = { readonly [key: string]: unknown }

/** Whether a property tells what it is; one with a name of its own does so among the definitions. */
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
    expect(parse({ messages, ...CHAT_DEFAULTS }).success).toBe(true)
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
