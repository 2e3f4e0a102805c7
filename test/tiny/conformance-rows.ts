/** Every field of a chat request with a value that changes the answer of the tiny model, and one that it refuses. */
import { expect } from 'vitest'
import type { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

export type Body = Record<string, unknown>
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any
  readonly text: string
}
/** The answers to a request without the field and with it. */
type Check = (given: Answer, plain: Answer) => void

interface Row {
  /** What the request has in both cases. */
  readonly base?: Body
  /** The field's value, or null where the model has no meaning for it. */
  readonly value: unknown
  readonly check?: Check
  /** A value that is refused by the field's name. */
  readonly refused: unknown
  /** What the refused request has besides. */
  readonly refusedWith?: Body
}

export const ANSWER = {
  messages: [{ role: 'user', content: 'What is the opposite of hot?' }],
  temperature: 0,
}
const DRAWN = { ...ANSWER, temperature: 1.5, seed: 11, max_tokens: 30, ignore_eos: true }
const END_ID = 2

const textOf = ({ body }: Answer, index = 0): string => body.choices[index].message.content
const differs: Check = (given, plain) => expect(textOf(given)).not.toBe(textOf(plain))
const same: Check = (given, plain) => {
  expect(given.status).toBe(200)
  expect(given.body.choices).toEqual(plain.body.choices)
}
const promptGrows: Check = (given, plain) =>
  expect(given.body.usage.prompt_tokens).toBeGreaterThan(plain.body.usage.prompt_tokens)
const matches =
  (pattern: RegExp): Check =>
  (given, plain) => {
    expect(textOf(given)).toMatch(pattern)
    expect(textOf(plain)).not.toMatch(pattern)
  }
const firstLogprob = ({ body }: Answer) => body.choices[0].logprobs.content[0]
const eventsOf = ({ text }: Answer) =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''))

export const ROWS: Readonly<Record<keyof ChatCompletionRequest, Row>> = {
  messages: {
    value: [{ role: 'user', content: 'What is 3 plus 4?' }],
    check: matches(/7/),
    refused: [],
  },
  model: {
    value: 'other-name',
    check: (given) => expect(given.body.model).toBe('other-name'),
    refused: 'nobody',
  },
  frequency_penalty: { base: { ...DRAWN, max_tokens: 90 }, value: 2, check: differs, refused: 2.5 },
  presence_penalty: {
    base: { ...DRAWN, max_tokens: 90 },
    value: -2,
    check: differs,
    refused: 'much',
  },
  repetition_penalty: { base: DRAWN, value: 3, check: differs, refused: 0 },
  logit_bias: {
    value: { [END_ID]: 100 },
    check: (given) => expect(textOf(given)).toBe(''),
    refused: { 640: 1 },
  },
  logprobs: {
    value: true,
    check: (given, plain) => {
      expect(firstLogprob(given).logprob).toBeLessThanOrEqual(0)
      expect(plain.body.choices[0].logprobs).toBeNull()
    },
    refused: 3,
  },
  top_logprobs: {
    base: { logprobs: true },
    value: 2,
    check: (given, plain) => {
      expect(firstLogprob(given).top_logprobs).toHaveLength(2)
      expect(firstLogprob(plain).top_logprobs).toHaveLength(0)
    },
    refused: 21,
  },
  max_tokens: {
    value: 2,
    check: (given) => expect(given.body.usage.completion_tokens).toBe(2),
    refused: 0,
  },
  max_completion_tokens: {
    base: { max_tokens: 9 },
    value: 3,
    check: (given) => expect(given.body.usage.completion_tokens).toBe(3),
    refused: -1,
  },
  n: {
    base: { temperature: 1 },
    value: 3,
    check: (given) => expect(given.body.choices).toHaveLength(3),
    refused: 129,
  },
  response_format: {
    value: { type: 'json_object' },
    check: (given) => expect(JSON.parse(textOf(given))).toEqual({ answer: 'cold' }),
    refused: { type: 'xml' },
  },
  structured_outputs: {
    value: { choice: ['warm'] },
    check: (given) => expect(textOf(given)).toBe('warm'),
    refused: {},
  },
  seed: { base: { ...DRAWN, seed: 1 }, value: 2, check: differs, refused: 1.5 },
  stop: {
    value: ['cold'],
    check: (given) => {
      expect(textOf(given)).not.toContain('cold')
      expect(given.body.choices[0].stop_reason).toBe('cold')
    },
    refused: [''],
  },
  stream: {
    value: true,
    check: (given, plain) => {
      const text = eventsOf(given).map(({ choices }) => choices[0].delta.content ?? '')
      expect(text.join('')).toBe(textOf(plain))
    },
    refused: 'yes',
  },
  stream_options: {
    base: { stream: true },
    value: { include_usage: true },
    check: (given, plain) => {
      expect(eventsOf(given).at(-1).usage.completion_tokens).toBeGreaterThan(0)
      expect(eventsOf(plain).at(-1).usage).toBeUndefined()
    },
    refused: { include_usage: 1 },
  },
  temperature: { base: { ...DRAWN, temperature: 0 }, value: 2, check: differs, refused: 2.1 },
  top_p: { base: DRAWN, value: 0.01, check: differs, refused: 0 },
  top_k: { base: DRAWN, value: 1, check: differs, refused: -2 },
  min_p: { base: DRAWN, value: 1, check: differs, refused: 1.5 },
  tools: { value: [{ function: { name: 'add' } }], check: promptGrows, refused: [{}] },
  tool_choice: {
    base: { tools: [{ function: { name: 'add' } }] },
    value: 'required',
    check: (given, plain) => {
      const [{ message, finish_reason }] = given.body.choices
      expect(finish_reason).toBe('tool_calls')
      expect(message.tool_calls[0].function).toEqual({ name: 'add', arguments: '{}' })
      expect(plain.body.choices[0].message.tool_calls).toBeUndefined()
    },
    refused: 'auto',
  },
  parallel_tool_calls: {
    // The end token is unlikely, so that calls go on where they may.
    base: {
      tools: [{ function: { name: 'f' } }],
      tool_choice: 'required',
      logit_bias: { [END_ID]: -100 },
      max_tokens: 150,
    },
    value: false,
    check: (given, plain) => {
      expect(given.body.choices[0].message.tool_calls).toHaveLength(1)
      expect(plain.body.choices[0].message.tool_calls.length).toBeGreaterThan(1)
    },
    refused: 'no',
  },
  reasoning_effort: {
    value: 'low',
    check: (given, plain) => {
      expect(given.body.choices[0].message.reasoning).toContain('script')
      expect(textOf(given)).toBe(textOf(plain))
    },
    refused: 'max',
  },
  include_reasoning: {
    base: { reasoning_effort: 'low' },
    value: false,
    check: (given, plain) => {
      expect(given.body.choices[0].message.reasoning).toBeUndefined()
      expect(plain.body.choices[0].message.reasoning).toBeDefined()
    },
    refused: 0,
  },
  user: { value: 'someone', check: same, refused: 5 },
  use_beam_search: {
    base: { ...DRAWN, logprobs: true },
    value: true,
    check: (given, plain) => {
      const total = ({ body }: Answer) =>
        body.choices[0].logprobs.content.reduce(
          (sum: number, { logprob }: { logprob: number }) => sum + logprob,
          0,
        )
      expect(total(given)).toBeGreaterThan(total(plain))
    },
    refused: 'yes',
  },
  length_penalty: {
    base: { use_beam_search: true, n: 4, allowed_token_ids: [END_ID, 80], max_tokens: 12 },
    value: -3,
    check: (given, plain) =>
      expect(given.body.usage.completion_tokens).toBeLessThan(plain.body.usage.completion_tokens),
    refused: 'long',
  },
  stop_token_ids: {
    base: { return_token_ids: true },
    value: [80, END_ID],
    check: (given, plain) => {
      const ids: number[] = plain.body.choices[0].token_ids
      expect(ids).toContain(END_ID)
      expect(given.body.choices[0].stop_reason ?? END_ID).toBe(
        ids.find((id) => id === 80) ?? END_ID,
      )
    },
    refused: [640],
  },
  include_stop_str_in_output: {
    base: { stop: ['cold'] },
    value: true,
    check: matches(/cold$/),
    refused: 1,
  },
  ignore_eos: {
    base: { max_tokens: 40 },
    value: true,
    check: (given, plain) => {
      expect(given.body.choices[0].finish_reason).toBe('length')
      expect(plain.body.choices[0].finish_reason).toBe('stop')
    },
    refused: 'no',
  },
  min_tokens: {
    base: { logit_bias: { [END_ID]: 100 } },
    value: 5,
    check: (given, plain) => {
      expect(given.body.usage.completion_tokens).toBe(6)
      expect(plain.body.usage.completion_tokens).toBe(1)
    },
    refused: 9,
    refusedWith: { max_tokens: 8 },
  },
  skip_special_tokens: {
    base: { ignore_eos: true, max_tokens: 20 },
    value: false,
    check: matches(/<\|im_end\|>/),
    refused: 'no',
  },
  spaces_between_special_tokens: {
    base: { ignore_eos: true, max_tokens: 20, skip_special_tokens: false },
    value: false,
    check: matches(/[^ ]<\|im_end\|>/),
    refused: 2,
  },
  truncate_prompt_tokens: {
    value: 6,
    check: (given) => expect(given.body.usage.prompt_tokens).toBe(6),
    refused: -2,
  },
  prompt_logprobs: {
    value: 1,
    check: (given) => {
      expect(given.body.prompt_logprobs).toHaveLength(given.body.usage.prompt_tokens)
      expect(given.body.prompt_logprobs[0]).toBeNull()
    },
    refused: 1,
    refusedWith: { stream: true },
  },
  allowed_token_ids: {
    base: { max_tokens: 3 },
    value: [80],
    check: (given, plain) => {
      expect(new Set(textOf(given)).size).toBe(1)
      differs(given, plain)
    },
    refused: [],
  },
  bad_words: {
    value: ['cold'],
    check: (given, plain) => {
      expect(textOf(plain)).toContain('cold')
      expect(textOf(given)).not.toContain('cold')
    },
    refused: [''],
  },
  echo: {
    base: {
      messages: [...ANSWER.messages, { role: 'assistant', content: 'The opposite' }],
      continue_final_message: true,
    },
    value: true,
    check: matches(/^The opposite/),
    refused: 1,
  },
  add_generation_prompt: {
    value: false,
    check: (given, plain) => {
      expect(given.body.usage.prompt_tokens).toBeLessThan(plain.body.usage.prompt_tokens)
      expect(given.body.choices[0].message.role).toBe('user')
    },
    refused: 'no',
  },
  continue_final_message: {
    base: {
      messages: [...ANSWER.messages, { role: 'assistant', content: 'The opposite of hot is' }],
    },
    value: true,
    check: (given, plain) => {
      expect(textOf(given)).toMatch(/^ cold/)
      expect(given.body.usage.prompt_tokens).toBeLessThan(plain.body.usage.prompt_tokens)
    },
    refused: true,
    refusedWith: { add_generation_prompt: true },
  },
  add_special_tokens: { value: true, check: promptGrows, refused: 'yes' },
  documents: { value: [{ title: 'T', text: 'words' }], check: promptGrows, refused: ['text'] },
  chat_template: {
    value: '<|im_start|>user\nWhat is 3 plus 4?<|im_end|>\n<|im_start|>assistant\n',
    check: matches(/7/),
    refused: '{% for %}',
  },
  chat_template_kwargs: {
    base: { chat_template: '{{ word }}{{ messages[0].content }}' },
    value: { word: 'and more and more' },
    check: promptGrows,
    refused: [],
  },
  mm_processor_kwargs: { value: null, refused: { size: 1 } },
  priority: { value: 3, check: same, refused: 1.5 },
  request_id: {
    value: 'mine-1',
    check: (given) => expect(given.body.id).toBe('chatcmpl-mine-1'),
    refused: 'not one',
  },
  logits_processors: { value: null, refused: ['module.Class'] },
  return_tokens_as_token_ids: {
    base: { logprobs: true },
    value: true,
    check: (given, plain) => {
      expect(firstLogprob(given).token).toMatch(/^token_id:\d+$/)
      expect(firstLogprob(plain).token).not.toMatch(/^token_id/)
    },
    refused: 'yes',
  },
  return_token_ids: {
    value: true,
    check: (given, plain) => {
      expect(given.body.prompt_token_ids).toHaveLength(given.body.usage.prompt_tokens)
      expect(given.body.choices[0].token_ids).toHaveLength(given.body.usage.completion_tokens)
      expect(plain.body.prompt_token_ids).toBeUndefined()
    },
    refused: 1,
  },
  cache_salt: {
    value: 'a salt of its own',
    // No prompt is cached, so there is none to share.
    check: (given, plain) => {
      expect(plain.body.usage.prompt_tokens_details.cached_tokens).toBe(0)
      expect(given.body.usage.prompt_tokens_details.cached_tokens).toBe(0)
      same(given, plain)
    },
    refused: 'a/b',
  },
  kv_transfer_params: { value: null, refused: { do_remote_decode: true } },
  engine_xargs: { value: null, refused: { extension: 'on' } },
}
