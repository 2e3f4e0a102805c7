/** Spans of libraries for Python, as they sent them. */
import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, scope = 'test', events: [string, Json][] = []) =>
  toSpanCall(
    buildSpan({
      attributes,
      scope: { name: scope, version: '1', attributes: {} },
      events: events.map(([name, own]) => ({ name, time_unix_nano: '1', attributes: own })),
    }),
    'acme/demo',
  )
const usageOf = (attributes: Json, scope?: string) =>
  readUsage(callOf(attributes, scope).end.summary)

const CALL = {
  id: 'call_2',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
}
const QUESTION = { role: 'user', content: 'What is the weather in Paris?' }
const RESULT = { role: 'tool', content: 'It is sunny in Paris.', tool_call_id: 'call_2' }
const CALLED = { role: 'assistant', content: null, tool_calls: [CALL] }
const answered = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
})

describe("a span of Pipecat's", () => {
  const SPAN = {
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.type': 'text',
    stream: true,
    input: JSON.stringify([
      QUESTION,
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_2', name: 'get_weather', input: { city: 'Paris' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_2', content: 'It is sunny in Paris.' }],
      },
    ]),
    tools: '[{"name":"get_weather","input_schema":{"type":"object","properties":{}}}]',
    'gen_ai.usage.input_tokens': 1282,
    'gen_ai.usage.output_tokens': 170,
    'gen_ai.usage.cache_read.input_tokens': 308,
    'gen_ai.usage.cache_creation.input_tokens': 514,
    output: 'Answer 1 of the provider.',
  }

  it('has the messages, the tools and the answer of a request', () => {
    const { start, end } = callOf(SPAN, 'pipecat')
    expect(start.inputs.messages).toEqual([QUESTION, CALLED, RESULT])
    expect(start.inputs.tools).toMatchObject([{ name: 'get_weather' }])
    expect(end.output).toEqual(answered('Answer 1 of the provider.'))
  })

  it.each([
    ['anthropic', 2104],
    ['aws.bedrock', 2104],
    ['openai', 1282],
  ])('counts what a cache had or took beside the input of %s alone', (provider, input_tokens) => {
    const span = { ...SPAN, 'gen_ai.provider.name': provider }
    expect(usageOf(span, 'pipecat')).toMatchObject([
      { input_tokens, cache_read_input_tokens: 308, cache_creation_input_tokens: 514 },
    ])
  })

  it('has the conversation of its turns, what was heard and what is said', () => {
    expect(callOf({ 'conversation.id': 'talk-1' }, 'pipecat.turn').start.thread_id).toBe('talk-1')
    const heard = callOf({ 'gen_ai.operation.name': 'stt', transcript: 'Hello.' }, 'pipecat')
    expect(heard.end.output).toBe('Hello.')
    const said = callOf({ 'gen_ai.operation.name': 'tts', text: 'Hello.' }, 'pipecat')
    expect(said.start.inputs).toEqual({ value: 'Hello.' })
  })

  it('is known by its scope: another one has its values as they are', () => {
    const { start, end } = callOf({ input: 'a', output: 'b', 'conversation.id': 'c' })
    expect([start.inputs, end.output, start.thread_id]).toEqual([{}, null, null])
  })
})

it("a span of Mirascope's has cached and reasoning tokens, and its session", () => {
  const span = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'openai/gpt-5',
    'gen_ai.usage.input_tokens': 2104,
    'gen_ai.usage.output_tokens': 170,
    'mirascope.response.usage':
      '{"input_tokens":2104,"output_tokens":170,"cache_read_tokens":308,"cache_write_tokens":0,"reasoning_tokens":64,"total_tokens":2274}',
    'mirascope.ops.session.id': 'talk-1',
  }
  expect(usageOf(span, 'mirascope.llm')).toMatchObject([
    { input_tokens: 2104, cache_read_input_tokens: 308, reasoning_tokens: 64 },
  ])
  expect(callOf(span, 'mirascope.llm').start.thread_id).toBe('talk-1')
})

describe('a span of Azure', () => {
  it('of azure-ai-inference has the messages that are one text in an event each', () => {
    const event = (name: string, content: Json): [string, Json] => [
      name,
      { 'gen_ai.system': 'az.ai.inference', 'gen_ai.event.content': JSON.stringify(content) },
    ]
    const { start, end } = callOf({ 'gen_ai.operation.name': 'chat' }, 'test', [
      event('gen_ai.user.message', QUESTION),
      event('gen_ai.assistant.message', { role: 'assistant', tool_calls: [CALL] }),
      event('gen_ai.tool.message', RESULT),
      event('gen_ai.choice', {
        message: { content: 'Answer 3 of the provider.' },
        finish_reason: 'stop',
        index: 0,
      }),
    ])
    expect(start.inputs.messages).toEqual([QUESTION, CALLED, RESULT])
    expect(end.output).toEqual(answered('Answer 3 of the provider.', 'stop'))
  })

  it('of azure-ai-projects has the calls of tools and their results within the content of parts', () => {
    const called = {
      type: 'function_call',
      id: 'call_2',
      function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
    }
    const result = { type: 'function_call_output', id: 'call_2', output: RESULT.content }
    const search = { type: 'web_search_call', id: 'ws_1', action: { query: 'Paris' } }
    const part = (content: Json) => ({ type: 'tool_call', content })
    const { start, end } = callOf({
      'gen_ai.input.messages': JSON.stringify([
        { role: 'tool', parts: [{ type: 'tool_call_output', content: result }] },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [part(called), part(search)] },
      ]),
    })
    expect(start.inputs.messages).toEqual([RESULT])
    expect(end.output).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [
              CALL,
              { function: { name: 'web_search_call', arguments: '{"action":{"query":"Paris"}}' } },
            ],
          },
        },
      ],
    })
  })
})

describe("a span of Haystack's own tracer", () => {
  const usage = {
    prompt_tokens: 2205,
    completion_tokens: 183,
    total_tokens: 2388,
    prompt_tokens_details: { cached_tokens: 315, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 67, audio_tokens: 0 },
  }
  const meta = { model: 'gpt-5', index: 0, finish_reason: 'tool_calls', usage }
  const call = { tool_name: 'get_weather', arguments: { city: 'Paris' }, id: 'call_2', extra: null }
  const message = (role: string, content: Json[], own: Json = {}) => ({
    role,
    meta: own,
    name: null,
    content,
  })
  const ASKED = [
    message('user', [{ text: QUESTION.content }]),
    message('assistant', [{ tool_call: call }], meta),
    message('tool', [{ tool_call_result: { result: RESULT.content, origin: call, error: false } }]),
  ]
  const REPLY = message(
    'assistant',
    [{ reasoning: { reasoning_text: 'hm' } }, { tool_call: call }],
    meta,
  )

  it.each(['haystack.component', 'haystack.agent.step.llm'])(
    'has the request, the answer and the tokens of %s',
    (step) => {
      const span = {
        [`${step}.input`]: JSON.stringify({ messages: ASKED }),
        [`${step}.output`]: JSON.stringify({ replies: [REPLY] }),
      }
      const { start, end } = callOf(span, 'program')
      expect(start.inputs).toEqual({ model: 'gpt-5', messages: [QUESTION, CALLED, RESULT] })
      expect(end.output).toEqual({
        choices: [
          {
            index: 0,
            message: { ...CALLED, reasoning_content: 'hm' },
            finish_reason: 'tool_calls',
          },
        ],
      })
      expect(usageOf(span, 'program')).toMatchObject([
        {
          model: 'gpt-5',
          input_tokens: 2205,
          output_tokens: 183,
          cache_read_input_tokens: 315,
          reasoning_tokens: 67,
        },
      ])
    },
  )

  it('counts the tokens of an embedder, and none of other components', () => {
    const output = (value: Json) => ({ 'haystack.component.output': JSON.stringify(value) })
    const counts = { prompt_tokens: 9, total_tokens: 9 }
    expect(
      usageOf(output({ embedding: [1], meta: { model: 'text-embedding-3-small', usage: counts } })),
    ).toMatchObject([{ model: 'text-embedding-3-small', input_tokens: 9 }])
    expect(usageOf(output({ prompt: 'a', meta: { usage: counts } }))).toEqual([])
  })

  it('has the names of components, and values of agents and tools', () => {
    const component = callOf({
      'haystack.component.name': 'builder',
      'haystack.component.type': 'PromptBuilder',
      'haystack.component.input': '{"question":"What is plain?"}',
      'haystack.component.output': '{"prompt":"What is plain?"}',
    })
    expect(component.start).toMatchObject({
      op_name: 'builder',
      inputs: { question: 'What is plain?' },
    })
    expect(component.end.output).toEqual({ prompt: 'What is plain?' })
    const tool = callOf({
      'haystack.tool.name': 'get_weather',
      'haystack.agent.step.tool.input': '{"city":"Paris"}',
      'haystack.agent.step.tool.output': 'It is sunny in Paris.',
    })
    expect(tool.start).toMatchObject({ op_name: 'get_weather', inputs: { city: 'Paris' } })
    expect(tool.end.output).toBe('It is sunny in Paris.')
  })
})

describe("a span of LangWatch's", () => {
  const value = (type: string, own: unknown) => JSON.stringify({ type, value: own })
  const SPAN = {
    'langwatch.span.type': 'llm',
    'langwatch.input': value('chat_messages', [QUESTION]),
    'langwatch.output': value('chat_messages', [{ ...CALLED, refusal: null }]),
    'gen_ai.request.model': 'openai/gpt-5',
    'langwatch.params': '{"tools":[{"type":"function","function":{"name":"get_weather"}}]}',
    'langwatch.metrics': '{"prompt_tokens":2205,"completion_tokens":183,"reasoning_tokens":67}',
    'gen_ai.usage.prompt_tokens': 2205,
    'gen_ai.usage.completion_tokens': 183,
  }

  it('has messages, tools and reasoning tokens', () => {
    const { start, end } = callOf(SPAN, 'langwatch')
    expect(start.attributes.kind).toBe('llm')
    expect(start.inputs).toMatchObject({
      messages: [QUESTION],
      tools: [{ function: { name: 'get_weather' } }],
    })
    expect(end.output).toEqual({ choices: [{ index: 0, message: CALLED, finish_reason: null }] })
    expect(usageOf(SPAN, 'langwatch')).toMatchObject([
      { input_tokens: 2205, output_tokens: 183, reasoning_tokens: 67 },
    ])
  })

  it('has values of other types as they are', () => {
    const { start, end } = callOf({
      'langwatch.span.type': 'tool',
      'langwatch.input': value('json', { city: 'Paris' }),
      'langwatch.output': value('text', '[1]'),
    })
    expect([start.attributes.kind, start.inputs, end.output]).toEqual([
      'tool',
      { city: 'Paris' },
      '[1]',
    ])
  })

  it('has the thread and the user of its trace, and metadata of another scope as it is', () => {
    const metadata = '{"thread_id":"talk-1","user_id":"user-1"}'
    const { start } = callOf({ metadata }, 'langwatch')
    expect(start).toMatchObject({ thread_id: 'talk-1', attributes: { user: 'user-1' } })
    expect(callOf({ metadata }).start).toMatchObject({ thread_id: null, attributes: { metadata } })
    expect(callOf({ 'langwatch.thread.id': 'talk-1' }).start.thread_id).toBe('talk-1')
  })
})

describe("a span of traceAI's", () => {
  const SPAN = {
    'gen_ai.request.parameters': '{"model":"gpt-5","stream":true}',
    'gen_ai.usage.input_tokens': 2407,
    'gen_ai.usage.output_tokens': 209,
    'gen_ai.usage.input_tokens.cache_read': 329,
    'gen_ai.usage.output_tokens.reasoning': 73,
    'gen_ai.span.kind': 'LLM',
  }

  it('has counts in detail, the model that was asked for and its kind', () => {
    const { start } = callOf(SPAN, 'traceai_openai')
    expect(start).toMatchObject({
      inputs: { model: 'gpt-5', stream: true },
      attributes: { kind: 'llm' },
    })
    expect(start.inputs).not.toHaveProperty('parameters')
    expect(usageOf(SPAN, 'traceai_openai')).toMatchObject([
      { model: 'gpt-5', input_tokens: 2407, cache_read_input_tokens: 329, reasoning_tokens: 73 },
    ])
  })

  it('has the thoughts and the answer of a response, and what a cache took, as Python prints them', () => {
    const message = 'gen_ai.output.messages.0.message'
    const span = {
      ...SPAN,
      'output.value':
        "{'id': 'resp_1', 'error': None, 'model': 'gpt-5', 'object': 'response', 'output': [{'id': 'rs_1', 'summary': [{'text': \"It's a greeting.\", 'type': 'summary_text'}], 'type': 'reasoning', 'content': None}, {'id': 'msg_1', 'content': [{'annotations': [], 'text': 'Hello.', 'type': 'output_text', 'logprobs': []}], 'role': 'assistant', 'status': 'completed', 'type': 'message'}], 'parallel_tool_calls': True, 'usage': {'input_tokens': 2407, 'input_tokens_details': {'cache_write_tokens': 547, 'cached_tokens': 329}, 'output_tokens': 209, 'output_tokens_details': {'reasoning_tokens': 73}, 'total_tokens': 2616}}",
      [`${message}.role`]: 'assistant',
      [`${message}.contents.0.message_content.type`]: 'text',
      [`${message}.contents.0.message_content.text`]: "It's a greeting.",
    }
    expect(callOf(span, 'traceai_openai').end.output).toMatchObject({
      choices: [{ message: { content: 'Hello.', reasoning_content: "It's a greeting." } }],
    })
    expect(usageOf(span, 'traceai_openai')).toMatchObject([
      { input_tokens: 2407, cache_read_input_tokens: 329, cache_creation_input_tokens: 547 },
    ])
  })
})
