import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5' }
const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: '{"a":1}',
}
const ANSWER = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Sunny.', annotations: [] }],
}
const SENT = [
  { role: 'user', content: 'Well?' },
  THOUGHT,
  CALL,
  { type: 'function_call_output', call_id: 'call_1', output: 'sun' },
]
const TOOL_CALLS = [
  { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
]
const MESSAGES = [
  { role: 'user', content: 'Well?' },
  { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: TOOL_CALLS },
  { role: 'tool', content: 'sun', tool_call_id: 'call_1' },
]
const CHOICES = [
  {
    index: 0,
    message: { role: 'assistant', content: 'Sunny.', reasoning_content: 'Hm.' },
    finish_reason: null,
  },
]

function callOf(attributes: Record<string, unknown>, scope = 'test') {
  const { start, end } = toSpanCall(
    buildSpan({ attributes, scope: { name: scope, version: '1', attributes: {} } }),
    'acme/demo',
  )
  return {
    ...start,
    output: end.output as object,
    usage: end.summary?.usage as Record<string, object>,
  }
}

describe('items of Responses', () => {
  it('of Langfuse become messages, and its cache writes are counted', () => {
    const call = callOf({
      'langfuse.observation.type': 'generation',
      'langfuse.observation.model.name': 'gpt-5',
      'langfuse.observation.input': JSON.stringify({ input: SENT, tools: [{ name: 'f' }] }),
      'langfuse.observation.output': JSON.stringify([THOUGHT, ANSWER]),
      'langfuse.observation.usage_details': JSON.stringify({
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 50 },
        output_tokens: 9,
        total_tokens: 109,
      }),
    })
    expect(call.inputs).toEqual({ model: 'gpt-5', messages: MESSAGES, tools: [{ name: 'f' }] })
    expect(call.output).toEqual({ choices: CHOICES })
    expect(call.usage['gpt-5']).toMatchObject({
      prompt_tokens: 100,
      cache_creation_input_tokens: 50,
    })
  })

  it("of Logfire's openai-agents are what was sent and answered, without the answer among the questions", () => {
    const attributes = {
      ...CHAT,
      raw_input: JSON.stringify(SENT),
      events: JSON.stringify([
        { 'event.name': 'gen_ai.user.message', content: 'no', role: 'user' },
      ]),
      response: JSON.stringify({ output: [THOUGHT, ANSWER] }),
      group_id: 'talk-1',
      usage: JSON.stringify({
        input_tokens: 100,
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
      }),
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 9,
    }
    const call = callOf(attributes, 'logfire.openai_agents')
    expect(call.inputs.messages).toEqual(MESSAGES)
    expect(call.output).toEqual({ choices: CHOICES })
    expect(call.thread_id).toBe('talk-1')
    expect(call.usage['gpt-5']).toMatchObject({
      completion_tokens_details: { reasoning_tokens: 4 },
    })
    // The names are plain words, which other libraries may use for something else.
    const other = callOf(attributes)
    expect([other.thread_id, other.attributes.response]).toEqual([null, attributes.response])
  })

  it('that OpenInference sends as settings are left out of them', () => {
    const response = {
      object: 'response',
      id: 'resp_1',
      output: [ANSWER],
      temperature: 1,
      top_p: null,
      usage: {},
      model: 'gpt-5',
    }
    const call = callOf({
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt-5',
      'llm.invocation_parameters': JSON.stringify(response),
    })
    expect(call.inputs).toEqual({ model: 'gpt-5', temperature: 1 })
  })

  it('that are a summary of thoughts as JSON become its text', () => {
    const content = JSON.stringify([
      { type: 'summary_text', text: 'Hm.' },
      { type: 'summary_text', text: 'So.' },
    ])
    const parts = [
      { type: 'text', content: 'Sunny.' },
      { type: 'reasoning', content },
    ]
    const call = callOf({
      ...CHAT,
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]),
    })
    expect(call.output).toMatchObject({
      choices: [{ message: { content: 'Sunny.', reasoning_content: 'Hm.\nSo.' } }],
    })
  })
})

it.each([
  'opentelemetry.instrumentation.bedrock',
  'opentelemetry.instrumentation.genai.bedrock',
  'opentelemetry.instrumentation.botocore.bedrock-runtime',
  'openlit.instrumentation.anthropic',
  'openlit.instrumentation.bedrock',
  '@openlit/instrumentation-anthropic',
  '@openlit/instrumentation-bedrock',
  '@traceloop/instrumentation-anthropic',
])('the input of %s leaves out what a cache had or took', (scope) => {
  const attributes = {
    ...CHAT,
    'gen_ai.usage.input_tokens': 1282,
    'gen_ai.usage.output_tokens': 170,
    'gen_ai.usage.total_tokens': 1452,
    'gen_ai.usage.cache_read.input_tokens': 308,
    'gen_ai.usage.cache_creation.input_tokens': 514,
  }
  const { usage } = callOf(attributes, scope)
  expect(usage['gpt-5']).toMatchObject({ prompt_tokens: 2104, completion_tokens: 170 })
  expect(callOf(attributes).usage['gpt-5']).toMatchObject({ prompt_tokens: 1282 })
})

it('chunks of a stream that came as a message each in an event are one answer', () => {
  const chunk = (content: string, finish_reason: string) => ({
    role: 'assistant',
    parts: [{ type: 'text', content }],
    finish_reason,
  })
  const event = {
    name: 'gen_ai.client.inference.operation.details',
    time_unix_nano: '1',
    attributes: { 'gen_ai.output.messages': [chunk('Sun', ''), chunk('ny.', 'stop')] },
  }
  const { end } = toSpanCall(buildSpan({ attributes: CHAT, events: [event] }), 'acme/demo')
  expect(end.output).toEqual({
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Sunny.' }, finish_reason: 'stop' },
    ],
  })
})
