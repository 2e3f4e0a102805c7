/** Spans of clients for JavaScript that have counts, messages or kinds in places of their own, as they sent them. */
import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, more: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...more }), 'acme/demo')
const event = (name: string, attributes: Json) => ({ name, time_unix_nano: '1', attributes })

describe('a span of Ax', () => {
  const CHAT = {
    'gen_ai.system': 'OpenAI',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.request.max_tokens': 'Not set',
    'gen_ai.request.temperature': 0,
    'gen_ai.response.model': 'gpt-5',
    'gen_ai.conversation.id': 'talk-1',
  }
  const usage = (input: number, output: number, total: number, more: Json = {}) =>
    event('gen_ai.usage', {
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.total_tokens': total,
      ...more,
    })

  it('has the tokens of an event, the input of which leaves out the cached ones', () => {
    const { start, end } = callOf(CHAT, { events: [usage(1796, 170, 2274)] })
    expect(start).toMatchObject({ thread_id: 'talk-1', attributes: { kind: 'llm' } })
    expect(readUsage(end.summary)).toMatchObject([
      { model: 'gpt-5', input_tokens: 2104, output_tokens: 170 },
    ])
  })

  it("has Gemini's thoughts in the output alone", () => {
    const thoughts = { 'gen_ai.usage.thoughts_tokens': 64 }
    expect(
      readUsage(callOf(CHAT, { events: [usage(1796, 106, 2274, thoughts)] }).end.summary),
    ).toMatchObject([{ input_tokens: 2104, output_tokens: 170, reasoning_tokens: 64 }])
  })

  it('has the tokens of the last chunk of a stream that has some', () => {
    const events = [usage(10, 1, 11), usage(2078, 209, 2616)]
    expect(readUsage(callOf(CHAT, { events }).end.summary)).toMatchObject([
      { input_tokens: 2407, output_tokens: 209 },
    ])
  })

  it('has no setting that was not set', () => {
    expect(callOf(CHAT).start.inputs).toEqual({ model: 'gpt-5', temperature: 0 })
  })
})

describe("a span of TanStack AI's middleware", () => {
  it('of a run has the sum of its requests, which does not count', () => {
    const { end } = callOf({
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.response.finish_reasons': ['stop'],
      'tanstack.ai.iterations': 2,
      'gen_ai.usage.input_tokens': 4511,
      'gen_ai.usage.output_tokens': 379,
      'gen_ai.usage.total_tokens': 4890,
    })
    expect(end.summary).toEqual({})
  })

  it('of a tool is one of a tool', () => {
    const { start } = callOf({
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.id': 'call_2',
      'gen_ai.tool.type': 'function',
    })
    expect(start.attributes).toMatchObject({ kind: 'tool' })
  })
})

describe('a span of Azure AI Inference', () => {
  const content = (name: string, fields: Json) =>
    event(name, {
      'gen_ai.system': 'az.ai.inference',
      'gen_ai.event.content': JSON.stringify(fields),
    })
  const call = {
    id: 'call_2',
    type: 'function',
    function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
  }

  it('has messages, calls and results of tools, each event of which is JSON', () => {
    const events = [
      content('gen_ai.user.message', { content: 'What is the weather in Paris?' }),
      content('gen_ai.assistant.message', { tool_calls: [call] }),
      content('gen_ai.tool.message', { content: 'It is sunny in Paris.', id: 'call_2' }),
      content('gen_ai.choice', {
        finish_reason: 'stop',
        index: 0,
        message: { content: 'Answer 3 of the provider.' },
      }),
    ]
    const { start, end } = callOf({ 'gen_ai.operation.name': 'chat' }, { events })
    expect(start.inputs.messages).toEqual([
      { role: 'user', content: 'What is the weather in Paris?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'It is sunny in Paris.', tool_call_id: 'call_2' },
    ])
    expect(end.output).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Answer 3 of the provider.' },
          finish_reason: 'stop',
        },
      ],
    })
  })

  it.each(['toolCalls', 'tool_calls'])('has the call of a tool in the %s of an answer', (name) => {
    const answer = { finish_reason: 'tool_calls', index: 0, message: { [name]: [call] } }
    expect(callOf({}, { events: [content('gen_ai.choice', answer)] }).end.output).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
    })
  })

  it('that failed has the message of its exception in place of a printed object', () => {
    const { end } = callOf(
      {},
      {
        status: { code: 2, message: '[object Object]' },
        events: [event('exception', { 'exception.message': 'It fails as it was asked to.' })],
      },
    )
    expect(end.exception).toBe('It fails as it was asked to.')
  })
})

describe("a span of LangSmith's wrapper of OpenAI's client", () => {
  const LANGSMITH = { scope: { name: 'langsmith', version: '', attributes: {} } }
  const spanOf = (prompt: Json, completion: Json) =>
    callOf(
      {
        'langsmith.span.kind': 'llm',
        'gen_ai.operation.name': 'chat',
        'gen_ai.prompt': JSON.stringify({ model: 'gpt-5', ...prompt }),
        'gen_ai.completion': JSON.stringify({ id: 'a-1', model: 'gpt-5', ...completion }),
      },
      LANGSMITH,
    )
  const call = { name: 'get_weather', arguments: '{"city":"Paris"}' }
  const QUESTION = { role: 'user', content: 'What is the weather in Paris?' }
  const TOOL_CALLS = [{ id: 'call_2', type: 'function', function: call }]

  it.each(['chat.completion', 'chat.completion.chunk'])(
    'has the answer of a whole %s',
    (object) => {
      const message = { role: 'assistant', content: null, tool_calls: TOOL_CALLS }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      const { start, end } = spanOf({ messages: [QUESTION] }, { object, choices })
      expect(start.inputs.messages).toEqual([QUESTION])
      expect(end.output).toEqual({ choices })
    },
  )

  it('has the items of a request of Responses, and of the response', () => {
    const item = { type: 'function_call', call_id: 'call_2', ...call }
    const result = { type: 'function_call_output', call_id: 'call_2', output: 'It is sunny.' }
    const content = [{ type: 'output_text', text: 'Answer 3 of the provider.' }]
    const { start, end } = spanOf(
      { input: [QUESTION, item, result] },
      { object: 'response', output: [{ type: 'message', role: 'assistant', content }] },
    )
    expect(start.inputs.messages).toEqual([
      QUESTION,
      { role: 'assistant', content: null, tool_calls: TOOL_CALLS },
      { role: 'tool', tool_call_id: 'call_2', content: 'It is sunny.' },
    ])
    expect(end.output).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'Answer 3 of the provider.' } }],
    })
  })

  it('has a request of Responses that is one text', () => {
    const { start } = spanOf({ input: 'What is plain?' }, {})
    expect(start.inputs.messages).toEqual([{ role: 'user', content: 'What is plain?' }])
  })

  it('failed if it has an exception, although its status is OK', () => {
    const thrown = event('exception', { 'exception.type': 'Error', 'exception.message': 'no' })
    const failed = { status: { code: 1, message: '' }, events: [thrown] }
    expect(callOf({}, { ...LANGSMITH, ...failed }).end.exception).toBe('Error: no')
    expect(callOf({}, failed).end.exception).toBeNull()
  })
})

describe('a span of an evaluation of promptfoo', () => {
  const PROMPTFOO = { scope: { name: 'promptfoo.providers', version: '', attributes: {} } }

  it.each([
    ['What is plain?', [{ role: 'user', content: 'What is plain?' }]],
    ['[{"role":"system","content":"Be brief."}]', [{ role: 'system', content: 'Be brief.' }]],
  ])('has the prompt %s, and the answer as it stands', (body, messages) => {
    const answer = '{"city":"Paris"}'
    const { start, end } = callOf(
      { 'promptfoo.request.body': body, 'promptfoo.response.body': answer },
      PROMPTFOO,
    )
    expect(start.inputs.messages).toEqual(messages)
    expect(end.output).toMatchObject({
      choices: [{ message: { role: 'assistant', content: answer } }],
    })
  })
})
