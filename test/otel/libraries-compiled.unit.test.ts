/** Spans of libraries for Go, Java and Rust, as they sent them. */
import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json) => toSpanCall(buildSpan({ attributes }), 'acme/demo')
const usageOf = (attributes: Json) => readUsage(callOf(attributes).end?.summary)

describe("a span of Anthropic's client for Go", () => {
  const SPAN = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    'anthropic.message.stop_reason': 'end_turn',
    'gen_ai.usage.input_tokens': 2104,
    'gen_ai.usage.output_tokens': 170,
    'gen_ai.usage.cache_write.input_tokens': 514,
    'anthropic.usage.cache_creation.ephemeral_5m_input_tokens': 314,
    'anthropic.usage.cache_creation.ephemeral_1h_input_tokens': 200,
    'gen_ai.output.messages':
      '[{"role":"assistant","parts":[{"type":"text","content":"Answer 1 of the provider."}]}]',
  }

  it('counts what is cached for an hour as such', () => {
    expect(usageOf(SPAN)).toMatchObject([
      {
        input_tokens: 2104,
        cache_creation_input_tokens: 514,
        cache_creation_1h_input_tokens: 200,
      },
    ])
  })

  it('has the reason why the answer ended', () => {
    expect(callOf(SPAN).end?.output).toMatchObject({ choices: [{ finish_reason: 'end_turn' }] })
  })
})

it('counts what is cached for an hour in the report of a provider', () => {
  const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 40 }
  const usage = { input_tokens: 10, cache_creation_input_tokens: 40, cache_creation }
  const span = {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'claude-sonnet-4-5',
    'output.mime_type': 'application/json',
    'output.value': JSON.stringify({ usage: { ...usage, output_tokens: 5 } }),
  }
  expect(usageOf(span)).toMatchObject([{ input_tokens: 50, cache_creation_1h_input_tokens: 40 }])
})

it("takes a report without a count of tokens, as of a stream of Genkit's for Go, for none", () => {
  const usage = { inputCharacters: 14, outputCharacters: 25 }
  const of = (counts: Json) =>
    usageOf({
      'genkit:type': 'action',
      'genkit:metadata:subtype': 'model',
      'genkit:name': 'openai/gpt-5',
      'genkit:output': JSON.stringify({ finishReason: 'stop', usage: { ...usage, ...counts } }),
    })
  expect(of({})).toEqual([])
  expect(of({ inputTokens: 0 })).toMatchObject([{ model: 'openai/gpt-5', input_tokens: 0 }])
})

describe('a span of Spring AI', () => {
  it('has the arguments and the result of a tool', () => {
    const { start, end } = callOf({
      'gen_ai.operation.name': 'execute_tool',
      'spring.ai.tool.call.arguments': '{"city":"Paris"}',
      'spring.ai.tool.call.result': '"It is sunny in Paris."',
    })
    expect([start.inputs, end?.output]).toEqual([{ city: 'Paris' }, 'It is sunny in Paris.'])
  })

  it('of a client is a step, with the conversation', () => {
    const attributes = {
      'gen_ai.operation.name': 'framework',
      'spring.ai.chat.client.conversation.id': 'talk-1',
    }
    expect(callOf(attributes).start).toMatchObject({
      thread_id: 'talk-1',
      attributes: { kind: 'chain' },
    })
  })
})

describe('a span of Koog', () => {
  // With an exporter of OpenTelemetry's for Java, numbers and lists are texts.
  const SPAN = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.input.messages':
      '[{"role":"System","parts":[{"type":"text","content":"Be brief."}]},{"role":"tool","parts":[]},{"role":"User","parts":[{"type":"text","content":"What is plain?"}]}]',
    'gen_ai.output.messages':
      '[{"role":"Assistant","parts":[{"type":"text","content":"Answer 1."}]}]',
    'gen_ai.response.finish_reasons': '[stop]',
    'gen_ai.usage.input_tokens': '2104',
    'gen_ai.usage.output_tokens': '170',
  }

  it('has roles as a chat names them, and no message of a tool without a result', () => {
    expect(callOf(SPAN).start.inputs).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is plain?' },
      ],
    })
  })

  it('has the reason of the end and the counts out of texts', () => {
    const message = { role: 'assistant', content: 'Answer 1.' }
    expect(callOf(SPAN).end?.output).toEqual({
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    })
    expect(usageOf(SPAN)).toMatchObject([{ input_tokens: 2104, output_tokens: 170 }])
  })
})

it('takes the number of messages and tools, as AgentScope sends it, for neither', () => {
  const { inputs } = callOf({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.request.messages.count': 2,
    'gen_ai.request.tools.count': 1,
    'gen_ai.request.top_k': 5,
  }).start
  expect(inputs).toEqual({ model: 'gpt-5', top_k: 5 })
})

it.each([
  ['a list', ['stop', 'length']],
  ['JSON, as genai for Rust writes it', '["stop","length"]'],
  ['a text of Java', '[stop, length]'],
])('has the reasons of choices out of %s', (_, reasons) => {
  const answer = { role: 'assistant', parts: [{ type: 'text', content: 'a' }] }
  const { end } = callOf({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.choice.count': 2,
    'gen_ai.output.messages': JSON.stringify([answer, answer]),
    'gen_ai.response.finish_reasons': reasons,
  })
  expect(end?.output).toMatchObject({
    choices: [{ finish_reason: 'stop' }, { finish_reason: 'length' }],
  })
})

it('keeps roles that a chat does not have, and the empty result of a call', () => {
  const messages = [
    { role: 'Critic', parts: [{ type: 'text', content: 'No.' }] },
    { role: 'tool', tool_call_id: 'a', parts: [] },
  ]
  const span = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': messages }
  expect(callOf(span).start.inputs.messages).toEqual([
    { role: 'Critic', content: 'No.' },
    { role: 'tool', content: null, tool_call_id: 'a' },
  ])
})
