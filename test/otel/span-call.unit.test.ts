import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan, LIBRARIES, recordedSpans } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, changes: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...changes }), 'acme/demo')

const SYSTEM = { role: 'system', content: 'Be brief.' }
const CALLED = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
const TOOL = '{"type":"function","name":"add"}'
/** Where OpenInference has messages. */
const FLAT = 'llm.input_messages'

/** Libraries that send no contents unless they are asked to. */
const WITHOUT_CONTENT = ['opentelemetry-openai-npm']

describe('spans that real libraries sent', () => {
  it.each(LIBRARIES)('%s: the model call has its model, messages, answer and tokens', (library) => {
    const calls = recordedSpans(library).map((span) => toSpanCall(span, 'acme/demo'))
    const [call] = calls.filter(({ start }) => start.attributes.kind === 'llm')
    expect(call?.start.inputs).toMatchObject({ model: 'tiny' })
    const usage = (call!.end.summary as { usage: { tiny: Json } }).usage.tiny
    expect(usage).toMatchObject({ completion_tokens: 7 })
    if (WITHOUT_CONTENT.includes(library)) return
    const messages = call?.start.inputs.messages as Json[]
    expect(messages.at(-1)).toEqual({ role: 'user', content: 'What is 3 plus 4?' })
    expect(call?.end.output).toMatchObject({
      choices: [{ message: { role: 'assistant', content: '3 plus 4 is 7.' } }],
    })
  })

  it('an agent that repeats the usage of its model calls counts it once', () => {
    const calls = recordedSpans('vercel-ai-npm').map((span) => toSpanCall(span, 'acme/demo'))
    const counted = calls.filter(({ end }) => end.summary && 'usage' in end.summary)
    expect(counted.map(({ start }) => start.attributes.kind)).toEqual(['llm'])
  })
})

describe('a span as a call', () => {
  it.each(['gen_ai.provider.name', 'gen_ai.system'])(
    'names the provider of %s beside the tokens, by which they are priced',
    (key) => {
      const { end } = callOf({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.usage.input_tokens': 1,
        [key]: 'aws.bedrock',
      })
      expect(end.summary).toMatchObject({ usage: { m: { provider: 'aws.bedrock' } } })
    },
  )

  it('keeps every digit of numbers in JSON that an attribute holds as a text', () => {
    const long = '{"order":9007199254740993,"share":0.12345678901234567891}'
    const { start, end } = callOf({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.arguments': long,
      'gen_ai.tool.call.result': `[${long}]`,
    })
    expect(JSON.stringify(start.inputs)).toBe(long)
    expect(JSON.stringify(end.output)).toBe(`[${long}]`)
  })

  it('has no kind that only looks like one', () => {
    const { start } = callOf({ 'gen_ai.operation.name': 'constructor' })
    expect(start.attributes).toEqual({ gen_ai: { operation: { name: 'constructor' } } })
  })

  it('keeps what no field was made of, as a tree, and the whole span', () => {
    const { start } = callOf({ 'my.custom.key': 1, 'gen_ai.request.model': 'm' })
    expect(start.attributes).toEqual({ my: { custom: { key: 1 } } })
    expect(start.otel_dump).toMatchObject({
      name: 'step',
      start_time_unix_nano: '1700000000000001000',
      attributes: { 'my.custom.key': 1 },
      resource: { 'service.name': 'client' },
    })
  })

  it('keeps maps whole in the span, also where a field takes a part of one', () => {
    const maps = { 'mlflow.spanType': 'LLM', 'mlflow.spanInputs': { model: 'm', messages: [] } }
    expect(callOf(structuredClone(maps)).start.otel_dump).toMatchObject({ attributes: maps })
  })

  it('has the name of its own entity, not that of the workflow that it runs in', () => {
    const below = { 'traceloop.workflow.name': 'flow' }
    expect(callOf(below).start.op_name).toBe('step')
    expect(callOf({ ...below, 'traceloop.entity.name': 'search' }).start.op_name).toBe('search')
  })

  it('rebuilds flattened messages, with tool calls', () => {
    const at = `${FLAT}.0.message`
    const { start } = callOf({
      'openinference.span.kind': 'LLM',
      [`${at}.role`]: 'assistant',
      [`${at}.tool_calls.0.tool_call.id`]: 'c1',
      [`${at}.tool_calls.0.tool_call.function.name`]: 'add',
      [`${at}.tool_calls.0.tool_call.function.arguments`]: '{"a":1}',
    })
    expect(start.inputs.messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [CALLED] },
    ])
  })

  it.each<[string, Json, unknown[]]>([
    [
      'instructions of the conventions, in parts',
      {
        'gen_ai.system_instructions': '[{"type":"text","content":"Be brief."}]',
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      },
      [SYSTEM, { role: 'user', content: 'hi' }],
    ],
    ['instructions as a text', { 'gen_ai.system_instructions': 'Be brief.' }, [SYSTEM]],
    [
      'instructions as messages',
      { 'gen_ai.system_instructions': '[{"role":"system","content":"Be brief."}]' },
      [SYSTEM],
    ],
    [
      'a request of the Vercel AI SDK, with its system prompt',
      { 'ai.prompt': '{"system":"Be brief.","prompt":"hi"}' },
      [SYSTEM, { role: 'user', content: 'hi' }],
    ],
    [
      'reasoning, tool calls and results of the conventions',
      {
        'gen_ai.input.messages': JSON.stringify([
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', content: 'hm' },
              { type: 'tool_call', id: 'c1', name: 'add', arguments: { a: 1 } },
            ],
          },
          { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: { sum: 2 } }] },
        ]),
      },
      [
        { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [CALLED] },
        { role: 'tool', content: '{"sum":2}', tool_call_id: 'c1' },
      ],
    ],
    [
      'images and what is not known of the conventions',
      {
        'gen_ai.input.messages': JSON.stringify([
          {
            role: 'user',
            name: 'ann',
            parts: [
              { type: 'text', content: 'see' },
              { type: 'uri', modality: 'image', uri: 'https://x/y.png' },
              { type: 'blob', modality: 'image', content: 'AA==' },
            ],
          },
        ]),
      },
      [
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
            { type: 'blob', modality: 'image', content: 'AA==' },
          ],
        },
      ],
    ],
    [
      'a result in parts and an image of OpenInference',
      {
        [`${FLAT}.0.message.role`]: 'tool',
        [`${FLAT}.0.message.tool_call_id`]: 'c1',
        [`${FLAT}.0.message.name`]: 'add',
        [`${FLAT}.0.message.contents.0.message_content.type`]: 'text',
        [`${FLAT}.0.message.contents.0.message_content.text`]: '2',
        [`${FLAT}.1.message.role`]: 'user',
        [`${FLAT}.1.message.contents.0.message_content.type`]: 'image',
        [`${FLAT}.1.message.contents.0.message_content.image.image.url`]: 'https://x/y.png',
      },
      [
        { role: 'tool', name: 'add', tool_call_id: 'c1', content: '2' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://x/y.png' } }],
        },
      ],
    ],
    [
      'a prompt of OpenInference',
      { 'llm.prompts.0.prompt.text': 'Once' },
      [{ role: 'user', content: 'Once' }],
    ],
    [
      'calls and results of the Vercel AI SDK',
      {
        'ai.prompt.messages': JSON.stringify([
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1 } }],
          },
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'add', result: '2' }],
          },
          {
            role: 'tool',
            content: [
              { type: 'tool-result', toolCallId: 'c1', output: { type: 'text', value: '2' } },
              { type: 'tool-result', toolCallId: 'c1', output: { type: 'json', value: { a: 1 } } },
              { type: 'tool-result', toolCallId: 'c1', output: { value: 21, unit: 'C' } },
            ],
          },
        ]),
      },
      [
        { role: 'assistant', content: null, tool_calls: [CALLED] },
        { role: 'tool', content: '2', tool_call_id: 'c1' },
        { role: 'tool', content: '2', tool_call_id: 'c1' },
        { role: 'tool', content: '{"a":1}', tool_call_id: 'c1' },
        { role: 'tool', content: '{"value":21,"unit":"C"}', tool_call_id: 'c1' },
      ],
    ],
  ])('makes chat messages of %s', (_title, attributes, expected) => {
    expect(callOf(attributes).start.inputs.messages).toEqual(expected)
  })

  it.each<[string, Json]>([
    ['the conventions', { 'gen_ai.tool.definitions': `[${TOOL}]` }],
    ['OpenInference', { 'llm.tools.0.tool.json_schema': TOOL }],
    ['the Vercel AI SDK', { 'ai.prompt.messages': '[]', 'ai.prompt.tools': [TOOL] }],
    [
      'OpenLLMetry',
      { 'llm.request.functions.0.type': 'function', 'llm.request.functions.0.name': 'add' },
    ],
  ])('reads the tools of %s', (_title, attributes) => {
    expect(callOf(attributes).start.inputs.tools).toEqual([JSON.parse(TOOL)])
  })

  it('adds the tool calls of the Vercel AI SDK to its answer, with or without a text', () => {
    const calls = {
      'ai.response.toolCalls': '[{"toolCallId":"c1","toolName":"add","args":{"a":1}}]',
    }
    const message = { role: 'assistant', content: null, tool_calls: [CALLED] }
    const finish = { 'ai.response.finishReason': 'tool-calls' }
    expect(callOf({ ...calls, ...finish }).end.output).toEqual({
      choices: [{ index: 0, message, finish_reason: 'tool-calls' }],
    })
    expect(callOf({ ...calls, 'ai.response.text': 'so' }).end.output).toMatchObject({
      choices: [{ message: { ...message, content: 'so' } }],
    })
  })

  it('adds the calls that LiteLLM has beside an answer without any', () => {
    const at = 'gen_ai.completion.0.function_call'
    const { end } = callOf({
      'gen_ai.output.messages': '[{"role":"assistant","parts":[],"finish_reason":"tool_calls"}]',
      [`${at}.name`]: 'add',
      [`${at}.arguments`]: '{"a":1}',
    })
    const message = { role: 'assistant', content: null, tool_calls: [{ ...CALLED, id: null }] }
    expect(end.output).toEqual({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
  })

  it('distinguishes questions from answers in one list of events', () => {
    const choice = (index: number, content: string) => ({
      'event.name': 'gen_ai.choice',
      index,
      message: { role: 'assistant', content },
    })
    const events = [
      { 'event.name': 'gen_ai.system.message', content: 'Be brief.' },
      { 'event.name': 'gen_ai.tool.message', id: 'c1', content: '2' },
      ...[choice(0, 'ho'), null, choice(1, 'hey')],
    ]
    const { start, end } = callOf({ events: JSON.stringify(events) })
    const result = { role: 'tool', content: '2', tool_call_id: 'c1' }
    expect(start.inputs.messages).toEqual([SYSTEM, result, { role: 'user', content: null }])
    expect(end.output).toMatchObject({
      choices: [{ message: { content: 'ho' } }, { index: 1, message: { content: 'hey' } }],
    })
  })

  it('drops no key for an index that is far too high, and makes no array of it', () => {
    const { start } = callOf({ 'llm.input_messages.99999999.message.role': 'user' })
    expect(JSON.stringify(start).length).toBeLessThan(1500)
    expect(start.otel_dump?.attributes).toHaveProperty(['llm.input_messages.99999999.message.role'])
  })

  it('a key named __proto__ changes no prototype', () => {
    callOf({ '__proto__.polluted': 'yes', 'a.__proto__.polluted': 'yes' })
    expect(({} as Json).polluted).toBeUndefined()
  })

  it.each<[string, Json, [string, string]]>([
    [
      'the conventions',
      { 'gen_ai.request.model': 'gpt-4o', 'gen_ai.response.model': 'gpt-4o-2024-08-06' },
      ['gpt-4o', 'gpt-4o-2024-08-06'],
    ],
    ['an answer alone', { 'gen_ai.response.model': 'a' }, ['a', 'a']],
    ['a request alone', { 'gen_ai.request.model': 'a' }, ['a', 'a']],
    [
      'OpenInference',
      { 'llm.model_name': 'a-1', 'llm.invocation_parameters': '{"model":"a","seed":1}' },
      ['a', 'a-1'],
    ],
    ['settings alone', { 'llm.invocation_parameters': '{"model":"a"}' }, ['a', 'a']],
    [
      'OpenInference, which names both',
      { 'llm.request.model_name': 'a', 'llm.response.model_name': 'a-1', 'llm.model_name': 'b' },
      ['a', 'a-1'],
    ],
    ['the Vercel AI SDK', { 'ai.model.id': 'a', 'ai.response.model': 'a-1' }, ['a', 'a-1']],
    ['Logfire', { request_data: '{"model":"a"}', response_data: '{"model":"a-1"}' }, ['a', 'a-1']],
  ])('inputs have the model that was asked, usage the one that answered: %s', (...row) => {
    const [, attributes, [requested, answering]] = row
    const { start, end } = callOf({ 'gen_ai.usage.input_tokens': 1, ...attributes })
    expect(start.inputs.model).toBe(requested)
    expect(Object.keys((end.summary as { usage: Json }).usage)).toEqual([answering])
  })

  it('names the number of choices as chat requests do', () => {
    const { inputs } = callOf({
      'gen_ai.request.model': 'm',
      'gen_ai.request.choice.count': 2,
      'gen_ai.request.seed': 7,
    }).start
    expect(inputs).toEqual({ model: 'm', n: 2, seed: 7 })
  })

  it.each([
    ['a zero stays a zero', { 'gen_ai.usage.input_tokens': 0 }, { prompt_tokens: 0 }],
    [
      'cached tokens lie inside of the input',
      {
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.cache_read.input_tokens': 40,
        'gen_ai.usage.output_tokens': 5,
      },
      { prompt_tokens: 100, total_tokens: 105, prompt_tokens_details: { cached_tokens: 40 } },
    ],
    [
      'cached tokens that the input cannot hold are added to it',
      {
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.cache_read_input_tokens': 40,
        'gen_ai.usage.output_tokens': 5,
      },
      { prompt_tokens: 50, total_tokens: 55 },
    ],
    [
      'reasoning tokens are told beside the output that holds them',
      { 'gen_ai.usage.output_tokens': 9, 'gen_ai.usage.reasoning_tokens': 4 },
      { completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 4 } },
    ],
  ])('usage: %s', (_title, attributes, expected) => {
    const { end } = callOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      ...attributes,
    })
    expect((end.summary as { usage: { m: Json } }).usage.m).toMatchObject(expected)
  })

  it('a span without token counts has no usage', () => {
    const { end } = callOf({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' })
    expect(end.summary).toEqual({})
  })

  it('recognizes an error by its status, otherwise by its exception', () => {
    const thrown = {
      name: 'exception',
      time_unix_nano: '1',
      attributes: { 'exception.type': 'ValueError', 'exception.message': 'no' },
    }
    const failed = (message: string, events: unknown[] = []) =>
      callOf({}, { status: { code: 2, message }, events }).end.exception
    expect(failed('boom')).toBe('boom')
    expect(failed('', [thrown])).toBe('ValueError: no')
    expect(failed('')).toBe('error')
    expect(callOf({}, { events: [thrown] }).end.exception).toBeNull()
  })

  it.each([
    ['no trace id', { trace_id: '0'.repeat(32) }, /trace_id/],
    ['no span id', { span_id: '' }, /span_id/],
    ['no start', { start_ns: 0n }, /start_time/],
    ['a start in the year 2500', { start_ns: 16_725_225_600_000_000_000n }, /2254/],
  ])('is refused with %s', (_title, changes, message) => {
    expect(() => callOf({}, changes)).toThrow(message)
  })
})
