/** Spans of frameworks of agents for JavaScript, as they sent them. */
import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, more: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...more }), 'acme/demo')
const event = (name: string, attributes: Json) => ({ name, time_unix_nano: '1', attributes })
const scope = (name: string) => ({ scope: { name, version: '', attributes: {} } })

describe.each([
  ['cachedContentTokenCount', 'thoughtsTokenCount', 'totalTokenCount', 'usageMetadata'],
  ['cached_content_token_count', 'thoughts_token_count', 'total_token_count', 'usage_metadata'],
] as const)("a span of Google's ADK that spells %s", (cached, thoughts, total, usage) => {
  it('counts thoughts, which its output leaves out, and cached tokens', () => {
    const { end } = callOf({
      'gen_ai.system': 'gcp.vertex.agent',
      'gen_ai.request.model': 'gemini-2.5-pro',
      'gcp.vertex.agent.llm_response': JSON.stringify({
        content: { role: 'model', parts: [{ text: 'Answer 1 of the provider.' }] },
        [usage]: { [cached]: 308, [thoughts]: 64, [total]: 2274 },
      }),
      'gen_ai.usage.input_tokens': 2104,
      'gen_ai.usage.output_tokens': 106,
    })
    expect(readUsage(end?.summary)).toMatchObject([
      {
        input_tokens: 2104,
        cache_read_input_tokens: 308,
        output_tokens: 170,
        reasoning_tokens: 64,
      },
    ])
  })
})

it("shows the settings of the system of Google's ADK for JavaScript", () => {
  const llm_request = JSON.stringify({
    contents: [{ role: 'user', parts: [{ text: 'What is plain?' }] }],
    config: { systemInstruction: 'Be brief.' },
  })
  expect(callOf({ 'gcp.vertex.agent.llm_request': llm_request }).start.inputs.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is plain?' },
  ])
})

describe('a span of Strands Agents', () => {
  const use = { name: 'get_weather', toolUseId: 'call_2', input: { city: 'Paris' } }
  const call = {
    id: 'call_2',
    type: 'function',
    function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
  }

  it.each([{ 'gen_ai.system': 'strands-agents' }, { 'agent_loop.cycle_id': 'cycle-1' }])(
    'has the blocks of messages, whatever its scope, with %j',
    (attributes) => {
      const result = { toolUseId: 'call_2', content: [{ text: 'It is sunny in Paris.' }] }
      const events = [
        event('gen_ai.user.message', { content: '[{"text":"What is the weather in Paris?"}]' }),
        event('gen_ai.assistant.message', { content: JSON.stringify([{ toolUse: use }]) }),
        event('gen_ai.tool.message', { content: JSON.stringify([{ toolResult: result }]) }),
      ]
      expect(callOf(attributes, { ...scope('shop'), events }).start.inputs.messages).toEqual([
        { role: 'user', content: 'What is the weather in Paris?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: 'It is sunny in Paris.', tool_call_id: 'call_2' },
      ])
    },
  )

  it('has the call of a tool whose fields stand beside its type', () => {
    const message = JSON.stringify([{ type: 'toolUse', ...use }])
    const events = [event('gen_ai.choice', { finish_reason: 'toolUse', message })]
    const span = callOf({ 'gen_ai.system': 'strands-agents' }, { events })
    expect(span.end?.output).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] })
  })
})

describe('a span of VoltAgent', () => {
  const VOLTAGENT = scope('@voltagent/core')
  const ABOVE = { 'entity.type': 'agent', 'conversation.id': 'talk-1', 'user.id': 'user-1' }

  it('has the request, the tokens and the conversation of a model call', () => {
    const { start, end } = callOf(
      {
        ...ABOVE,
        'span.type': 'llm',
        'llm.model': 'gpt-5',
        'llm.messages':
          '[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"What is plain?"}]}]',
        'llm.usage.prompt_tokens': 2104,
        'llm.usage.completion_tokens': 170,
        'llm.usage.total_tokens': 2274,
        'llm.usage.cached_tokens': 308,
        'llm.usage.reasoning_tokens': 64,
      },
      VOLTAGENT,
    )
    expect(start).toMatchObject({
      thread_id: 'talk-1',
      attributes: { kind: 'llm', user: 'user-1' },
      inputs: {
        model: 'gpt-5',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'What is plain?' },
        ],
      },
    })
    expect(readUsage(end?.summary)).toMatchObject([
      { model: 'gpt-5', input_tokens: 2104, cache_read_input_tokens: 308, reasoning_tokens: 64 },
    ])
  })

  it('counts nothing of an agent, whose text stays one', () => {
    const usage = { 'usage.prompt_tokens': 4511, 'usage.completion_tokens': 379 }
    const { start, end } = callOf({ ...ABOVE, ...usage, input: '[1]', output: '[2]' }, VOLTAGENT)
    expect(start.attributes.kind).toBe('agent')
    expect([start.inputs, end?.output]).toEqual([{ value: '[1]' }, '[2]'])
    expect(readUsage(end?.summary)).toEqual([])
  })

  it('has the arguments of a tool', () => {
    const span = { ...ABOVE, 'span.type': 'tool', input: '{"city":"Paris"}', output: 'sunny' }
    const { start, end } = callOf(span, VOLTAGENT)
    expect([start.inputs, end?.output]).toEqual([{ city: 'Paris' }, 'sunny'])
  })
})

describe('answers of which each item is an event', () => {
  const details = (part: Json, finish_reason: string) =>
    event('gen_ai.client.inference.operation.details', {
      'gen_ai.output.messages': [{ role: 'assistant', parts: [part], finish_reason }],
    })
  const choicesOf = (...events: Json[]) =>
    callOf({ 'gen_ai.operation.name': 'chat' }, { events }).end?.output

  it('are one choice where they end alike', () => {
    const thought = details({ type: 'reasoning', text: 'hm' }, 'stop')
    expect(choicesOf(thought, details({ type: 'text', content: 'ho' }, 'stop'))).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'ho', reasoning_content: 'hm' },
          finish_reason: 'stop',
        },
      ],
    })
  })

  it('are choices of their own where they end otherwise', () => {
    const cut = details({ type: 'reasoning', text: 'hm' }, 'length')
    expect(choicesOf(cut, details({ type: 'text', content: 'ho' }, 'stop'))).toMatchObject({
      choices: [{ finish_reason: 'length' }, { message: { content: 'ho' } }],
    })
  })
})
