import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

/** The first message that went in, and the first that came out. */
function messagesOf(attributes: Json, events: readonly [string, Json][] = []) {
  const span = buildSpan({
    attributes,
    events: events.map(([name, values]) => ({
      name,
      time_unix_nano: '1',
      attributes: values,
    })),
  })
  const { start, end } = toSpanCall(span, 'acme/demo')
  const { choices } = (end.output ?? {}) as { choices?: { message: Json }[] }
  return [(start.inputs.messages as Json[] | undefined)?.[0], choices?.[0]?.message]
}

/** Places of one content, as a prompt and as an answer. */
const PLACES: readonly [string, (content: string) => [Json, [string, Json][]?]][] = [
  [
    'OpenInference',
    (content) => [
      {
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': content,
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.content': content,
      },
    ],
  ],
  ['OpenLLMetry', (content) => [flattened(content)]],
  [
    'Logfire',
    (content) => [
      {
        request_data: JSON.stringify({ messages: [{ role: 'user', content }] }),
        response_data: JSON.stringify({ message: { role: 'assistant', content } }),
      },
    ],
  ],
  [
    'the conventions',
    (content) => [
      {
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', content }]),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', content }]),
      },
    ],
  ],
  [
    'events',
    (content) => [
      {},
      [
        ['gen_ai.user.message', { content }],
        ['gen_ai.choice', { message: JSON.stringify({ role: 'assistant', content }) }],
      ],
    ],
  ],
]

function flattened(content: unknown): Json {
  return {
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.0.content': content,
    'gen_ai.completion.0.role': 'assistant',
    'gen_ai.completion.0.content': content,
  }
}

const TEXTS = [
  '["a","b"]',
  '[]',
  '{"text":"hi"}',
  '"quoted"',
  '[{"name":"Bob","age":3}]',
  '[{"type":"tool_call","name":"rm"}]',
  '[{"type":"tool-call","toolName":"rm","toolCallId":"c1","input":{}}]',
  '[{"type":"tool_use","id":"c1","name":"rm","input":{}}]',
  '[{"type":"reasoning","content":"x"}]',
  '[ {"text": "cat"}, {"text": "cat"}]',
  '[{"type":"text","text":"cat"},{"name":"Bob"}]',
  '[{"type":"text","text":"cat","age":3}]',
  '[{"type":"text","text":["cat"]}]',
  '[{"type":"text"}]',
]

describe.each(PLACES)('a content in %s that is a text', (_title, place) => {
  it.each(TEXTS)('stays one: %s', (content) => {
    expect(messagesOf(...place(content))).toEqual([
      { role: 'user', content },
      { role: 'assistant', content },
    ])
  })
})

describe('what is no message in a place of messages', () => {
  it.each<[string, unknown]>([
    ['{"answer":42}', { answer: 42 }],
    ['[{"type":"tool_call","name":"rm"}]', { type: 'tool_call', name: 'rm' }],
    [
      '[{"type":"function_call_output","output":"2"}]',
      { type: 'function_call_output', output: '2' },
    ],
  ])('is the content of one: %s', (text, content) => {
    const attributes = { 'gen_ai.input.messages': text, 'gen_ai.output.messages': text }
    expect(messagesOf(attributes)).toEqual([
      { role: 'user', content },
      { role: 'assistant', content },
    ])
  })

  it('is no content when it tells only why an answer ended', () => {
    const [, answer] = messagesOf({ 'gen_ai.completion.0.finish_reason': 'stop' })
    expect(answer).toEqual({ role: 'assistant', content: null })
  })
})

describe('a content that OpenLLMetry wrote as JSON', () => {
  const URL = { type: 'image_url', image_url: { url: 'https://x/y.png' } }
  const SOURCE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }

  it.each<[string, Json[], unknown]>([
    [
      'texts',
      [
        { type: 'text', text: 'hi ' },
        { type: 'text', text: 'ho' },
      ],
      'hi ho',
    ],
    [
      'images',
      [{ type: 'text', text: 'see' }, URL, SOURCE],
      [{ type: 'text', text: 'see' }, URL, SOURCE],
    ],
    ['texts to be cached', [{ type: 'text', text: 'hi', cache_control: {} }], 'hi'],
  ])('is a list of %s', (_title, parts, content) => {
    expect(messagesOf(flattened(JSON.stringify(parts)))).toEqual([
      { role: 'user', content },
      { role: 'assistant', content },
    ])
  })

  it('returns reasoning separately from content', () => {
    const parts = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'hi' },
    ]
    const [, answer] = messagesOf(flattened(JSON.stringify(parts)))
    expect(answer).toEqual({ role: 'assistant', content: 'hi', reasoning_content: 'hm' })
  })

  it.each([
    { type: 'tool_result', tool_use_id: 'c1', content: '2' },
    {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'add',
      output: { type: 'text', value: '2' },
    },
  ])('has results of tools in prompts, and none in answers: %o', (part) => {
    const text = JSON.stringify([part])
    const [asked, answer] = messagesOf(flattened(text))
    expect(asked).toMatchObject({ role: 'tool', content: '2' })
    expect(answer).toEqual({ role: 'assistant', content: text })
  })

  it('makes no second tool call of one that the message names already', () => {
    const used = { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } }
    const [, answer] = messagesOf({
      ...flattened(JSON.stringify([used])),
      'gen_ai.completion.0.tool_calls.0.id': 'c1',
      'gen_ai.completion.0.tool_calls.0.name': 'add',
      'gen_ai.completion.0.tool_calls.0.arguments': '{"a":1}',
    })
    const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
    expect(answer).toEqual({ role: 'assistant', content: null, tool_calls: [call] })
  })

  it('is a text within messages that are JSON as a whole', () => {
    const content = '[{"type":"text","text":"hi"}]'
    const attributes = { 'gen_ai.prompt': JSON.stringify([{ role: 'user', content }]) }
    expect(messagesOf(attributes)[0]).toEqual({ role: 'user', content })
  })
})

describe('a message', () => {
  it.each<[string, Json]>([
    ['flattened', { function_call_name: 'f', function_call_arguments_json: '{"a":1}' }],
    ['as an object', { function_call: { name: 'f', arguments: '{"a":1}' } }],
  ])('has beside it thoughts, a refusal and a call in the deprecated form, %s', (_title, call) => {
    const message = { role: 'assistant', reasoning_content: 'hm', refusal: 'no', ...call }
    const attributes = Object.fromEntries(
      Object.entries(message).map(([key, value]) => [
        `llm.output_messages.0.message.${key}`,
        value,
      ]),
    )
    const { end } = toSpanCall(buildSpan({ attributes }), 'acme/demo')
    expect(end.output).toMatchObject({
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'hm',
            refusal: 'no',
            function_call: { name: 'f', arguments: '{"a":1}' },
          },
        },
      ],
    })
  })

  it('may name very many calls, each of them twice', () => {
    const calls = Array.from({ length: 200_000 }, (_, at) => ({ id: `c${at}`, name: 'look_up' }))
    const message = {
      role: 'assistant',
      tool_calls: calls,
      parts: calls.map((call) => ({ type: 'tool_call', ...call })),
    }
    const [, answer] = messagesOf({ 'gen_ai.output.messages': JSON.stringify([message]) })
    expect(answer?.tool_calls).toHaveLength(calls.length)
  })

  it('of which there is only the role gives way to the value beside it', () => {
    const roles = { 'llm.input_messages.0.message.role': 'user' }
    const inputsOf = (attributes: Json) =>
      toSpanCall(buildSpan({ attributes }), 'acme/demo').start.inputs
    const question = { messages: [{ role: 'user', content: 'hi' }] }
    const value = { 'input.value': JSON.stringify(question), 'input.mime_type': 'application/json' }
    expect(inputsOf({ ...roles, ...value })).toEqual(question)
    expect(inputsOf(roles)).toEqual({ messages: [{ role: 'user', content: null }] })
  })

  it('of an answer of which there is only the role gives way to the value beside it', () => {
    const roles = { 'llm.output_messages.0.message.role': 'assistant' }
    const outputOf = (attributes: Json) =>
      toSpanCall(buildSpan({ attributes }), 'acme/demo').end.output
    const message = { role: 'assistant', content: null, refusal: 'no' }
    const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const value = { 'output.value': JSON.stringify(answer), 'output.mime_type': 'application/json' }
    expect(outputOf({ ...roles, ...value })).toEqual(answer)
    expect(outputOf(roles)).toMatchObject({
      choices: [{ message: { role: 'assistant', content: null } }],
    })
  })

  it.each([
    ['the conventions', { type: 'refusal', content: 'no' }],
    ['chat', { type: 'refusal', refusal: 'no' }],
  ])('has the refusal that a part in the form of %s holds', (_title, part) => {
    const answer = { role: 'assistant', parts: [part], finish_reason: 'stop' }
    const [, message] = messagesOf({ 'gen_ai.output.messages': JSON.stringify([answer]) })
    expect(message).toEqual({ role: 'assistant', content: null, refusal: 'no' })
  })
})

describe('a part with an address', () => {
  const partOf = (part: Json) =>
    messagesOf({
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [part] }]),
    })[0]?.content

  it.each([
    {},
    { modality: 'image' },
    { modality: 'image', mime_type: 'image/png' },
    { modality: 'image', mime_type: null },
  ])('is an image unless it is told to be something else: %j', (told) => {
    const url = 'https://x/y'
    expect(partOf({ type: 'uri', uri: url, ...told })).toEqual([
      { type: 'image_url', image_url: { url } },
    ])
  })

  it.each([
    { modality: 'audio' },
    { modality: 'video', mime_type: 'video/mp4' },
    { modality: 'image', mime_type: 'application/pdf' },
  ])('stays what it is if it is no image: %j', (told) => {
    const part = { type: 'uri', uri: 'https://x/y', ...told }
    expect(partOf(part)).toEqual([part])
  })
})

describe('an answer that came as a message for each of its items', () => {
  const at = (index: number) => `llm.output_messages.${index}.message`
  const called = (index: number, id: string): Json => ({
    [`${at(index)}.role`]: 'assistant',
    [`${at(index)}.tool_calls.0.tool_call.id`]: id,
    [`${at(index)}.tool_calls.0.tool_call.function.name`]: 'add',
  })
  const told = (index: number, type: string, text: string): Json => ({
    [`${at(index)}.role`]: 'assistant',
    [`${at(index)}.contents.0.message_content.type`]: type,
    [`${at(index)}.contents.0.message_content.text`]: text,
  })
  const choicesOf = (...items: readonly Json[]) => {
    const { end } = toSpanCall(buildSpan({ attributes: Object.assign({}, ...items) }), 'acme/demo')
    return (end.output as { choices: Json[] }).choices
  }
  const items = [told(0, 'reasoning', 'hm'), told(1, 'text', 'I add.'), called(2, 'a')]

  it('is one choice', () => {
    const choices = choicesOf(...items, called(3, 'b'), { 'llm.finish_reason': 'tool_calls' })
    expect(choices).toMatchObject([
      {
        message: {
          role: 'assistant',
          content: 'I add.',
          reasoning_content: 'hm',
          tool_calls: [{ id: 'a' }, { id: 'b' }],
        },
        finish_reason: 'tool_calls',
      },
    ])
    expect(choices).toHaveLength(1)
  })

  it('stays several choices where several were asked for, or where two have a text', () => {
    expect(choicesOf(...items, { 'llm.invocation_parameters': '{"n":2}' })).toHaveLength(3)
    expect(choicesOf(told(0, 'text', 'a'), told(1, 'text', 'b'))).toHaveLength(2)
  })
})
