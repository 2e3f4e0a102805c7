/** Every field of a chat request with values that it takes and values that it refuses. */
import type { SpecField } from './chat-request-fields.ts'

interface Row {
  readonly accepts: readonly unknown[]
  /** A refused value, and the path below the field where the fault is. */
  readonly rejects: readonly (readonly [value: unknown, path?: string])[]
}

export const SECRET = 'SECRET-PROMPT'
export const INT64 = 9_223_372_036_854_776_000
export const messages = [{ role: 'user', content: 'Hello' }]
export const tool = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } }
export const many = (count: number, value: unknown) => Array.from({ length: count }, () => value)
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

export const ROWS: Readonly<Record<SpecField, Row>> = {
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
      [{ type: 'custom', custom: { name: 'code', format: { type: 'text' } } }],
      [{ type: 'x'.repeat(64), more: {} }],
      many(512, tool),
    ],
    rejects: [
      [tool],
      [[{}], '0.function'],
      [[{ type: 'function', custom: { name: 'code' } }], '0.function'],
      [[tool, { type: 'x'.repeat(65) }], '1.type'],
      [[{ type: 'custom', custom: { name: 'n'.repeat(257) } }], '0.custom.name'],
      [[{ type: 'custom', custom: { name: 'a', description: 5 } }], '0.custom.description'],
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
      { type: 'custom', custom: { name: 'code' } },
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: many(512, tool) } },
    ],
    rejects: [
      [''],
      [5],
      [true],
      [{}],
      [{ type: 'function' }, 'function'],
      ['x'.repeat(65)],
      [{ type: 'x'.repeat(65), function: { name: 'a' } }, 'type'],
      [{ type: 'allowed_tools', allowed_tools: { tools: many(513, tool) } }, 'allowed_tools.tools'],
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
