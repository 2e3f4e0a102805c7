import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, changes: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...changes }), 'acme/demo')

const toJsonTexts = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, JSON.stringify(value)]))

const PARIS = { city: 'Paris' }
const CALLED = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
}
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 64 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const COUNTED = { requests: 1, ...USAGE }

// Recorded from @anthropic-ai/claude-agent-sdk 0.3.328 with CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1, and shortened.
describe("spans of Claude Code's enhanced telemetry", () => {
  const scope = { name: 'com.anthropic.claude_code.tracing', version: '1.0.0', attributes: {} }
  const base = { 'session.id': 's1', 'user.id': 'hash', 'gen_ai.conversation.id': 's1' }
  const request = {
    ...base,
    'span.type': 'llm_request',
    model: 'claude-sonnet-4-5',
    'gen_ai.system': 'anthropic',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    input_tokens: 11,
    output_tokens: 47,
    cache_read_tokens: 2000,
    cache_creation_tokens: 300,
    stop_reason: 'tool_use',
  }

  it('a request counts its cached tokens as input, which its own count leaves out', () => {
    const { start, end } = callOf(request, { scope })
    expect(start).toMatchObject({ thread_id: 's1', inputs: { model: 'claude-sonnet-4-5' } })
    expect(start.attributes).toMatchObject({ kind: 'llm', user: 'hash', provider: 'anthropic' })
    expect(end.summary).toEqual({
      usage: {
        'claude-sonnet-4-5': {
          provider: 'anthropic',
          requests: 1,
          prompt_tokens: 2311,
          completion_tokens: 47,
          total_tokens: 2358,
          prompt_tokens_details: { cached_tokens: 2000 },
          cache_creation_input_tokens: 300,
        },
      },
    })
  })

  it('the same names count nothing in spans of other scopes', () => {
    expect(callOf(request).end.summary).toEqual({})
  })

  it('an interaction has its prompt, and a tool its command and what it printed', () => {
    const prompt = { 'span.type': 'interaction', user_prompt: '["hi"]' }
    expect(callOf({ ...base, ...prompt }, { scope }).start).toMatchObject({
      attributes: { kind: 'agent' },
      inputs: { messages: [{ role: 'user', content: '["hi"]' }] },
    })
    const printed = { bash_command: 'echo hi', output: 'hi' }
    const events = [{ name: 'tool.output', time_unix_nano: '1', attributes: printed }]
    const tool = { 'gen_ai.operation.name': 'execute_tool', full_command: 'echo hi' }
    const call = callOf(tool, { scope, events })
    expect(call.start.inputs).toEqual({ value: 'echo hi' })
    expect(call.end.output).toBe('hi')
    const { output: _, ...edited } = printed
    const others = [{ name: 'tool.output', time_unix_nano: '1', attributes: edited }]
    expect(callOf(tool, { scope, events: others }).end.output).toEqual(edited)
  })
})

// Recorded from genkit 1.42.0 with @genkit-ai/compat-oai 1.42.0, and shortened.
describe('spans of Genkit', () => {
  const input = {
    messages: [
      { role: 'system', content: [{ text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { text: 'Weather?' },
          { media: { url: 'https://x/a.png', contentType: 'image/png' } },
        ],
      },
      {
        role: 'model',
        content: [
          { reasoning: 'hm' },
          { toolRequest: { name: 'weather', ref: 'call_1', input: PARIS } },
        ],
      },
      {
        role: 'tool',
        content: [{ toolResponse: { name: 'weather', ref: 'call_1', output: 'sunny' } }],
      },
    ],
    config: { temperature: 0.5 },
    tools: [{ name: 'weather', inputSchema: {} }],
  }
  const output = {
    finishReason: 'stop',
    message: { role: 'model', content: [{ text: 'It is sunny.' }] },
    usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 },
  }
  const raw = { model: 'gpt-4o-2024-08-06', usage: USAGE }
  const model = {
    'genkit:type': 'action',
    'genkit:metadata:subtype': 'model',
    'genkit:name': 'openai/gpt-4o',
  }

  it('a model step has its messages, settings, answer and the counts of the provider', () => {
    const { start, end } = callOf({
      ...model,
      ...toJsonTexts({ 'genkit:input': input, 'genkit:output': { ...output, raw } }),
    })
    expect(start.attributes.kind).toBe('llm')
    const image = { type: 'image_url', image_url: { url: 'https://x/a.png' } }
    expect(start.inputs).toEqual({
      model: 'openai/gpt-4o',
      temperature: 0.5,
      tools: input.tools,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather?' }, image] },
        { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [CALLED] },
        { role: 'tool', content: 'sunny', tool_call_id: 'call_1' },
      ],
    })
    expect(end.output).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'It is sunny.' },
          finish_reason: 'stop',
        },
      ],
    })
    expect(end.summary).toEqual({ usage: { 'gpt-4o-2024-08-06': COUNTED } })
  })

  it("without a provider's report, its own counts, in which thoughts lie outside the output", () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 4,
      thoughtsTokens: 6,
      totalTokens: 20,
      cachedContentTokens: 8,
    }
    const { end } = callOf({ ...model, 'genkit:output': JSON.stringify({ ...output, usage }) })
    expect(end.summary).toMatchObject({
      usage: {
        'openai/gpt-4o': {
          prompt_tokens: 10,
          completion_tokens: 10,
          total_tokens: 20,
          prompt_tokens_details: { cached_tokens: 8 },
        },
      },
    })
  })

  it('flows and steps above a model repeat its usage, which does not count, and have no model', () => {
    const above = callOf({ 'genkit:type': 'util', 'genkit:output': JSON.stringify(output) })
    expect(above.end.summary).toEqual({})
    const flow = callOf({
      'genkit:metadata:subtype': 'flow',
      'genkit:name': 'ask',
      'genkit:input': '"Weather?"',
      'genkit:output': '"It is sunny."',
    })
    expect(flow.start.inputs).toEqual({ value: 'Weather?' })
    expect(flow.end).toMatchObject({ output: 'It is sunny.', summary: {} })
  })
})

// Recorded from mlflow 3.17.2 with openai 3.57.0, and shortened.
describe("spans that MLflow's tracing exports", () => {
  const messages = [{ role: 'user', content: 'Weather?' }]

  it('a request of a model has its messages, settings, answer and tokens', () => {
    const tokenUsage = {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cache_read_input_tokens: 64,
    }
    const message = { role: 'assistant', content: null, tool_calls: [CALLED], refusal: null }
    const { start, end } = callOf(
      toJsonTexts({
        'mlflow.spanType': 'CHAT_MODEL',
        'mlflow.spanInputs': { model: 'gpt-4o', messages, temperature: 0.5 },
        'mlflow.spanOutputs': { choices: [{ index: 0, finish_reason: 'tool_calls', message }] },
        'mlflow.llm.model': 'gpt-4o-2024-08-06',
        'mlflow.chat.tokenUsage': tokenUsage,
      }),
    )
    expect(start.attributes.kind).toBe('llm')
    expect(start.inputs).toEqual({ model: 'gpt-4o', temperature: 0.5, messages })
    expect(end.output).toEqual({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [CALLED] },
          finish_reason: 'tool_calls',
        },
      ],
    })
    const { completion_tokens_details: _, ...counted } = COUNTED
    expect(end.summary).toEqual({ usage: { 'gpt-4o-2024-08-06': counted } })
  })

  it("the provider's own report in the output counts before MLflow's, which lacks reasoning and cache writes", () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 50 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 120,
    }
    const { end } = callOf(
      toJsonTexts({
        'mlflow.spanType': 'CHAT_MODEL',
        'mlflow.llm.model': 'gpt-5',
        'mlflow.spanOutputs': { object: 'response', output: [], usage },
        'mlflow.chat.tokenUsage': { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      }),
    )
    const counts = Object.values(end.summary?.usage ?? {})[0]
    expect(counts).toMatchObject({
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 30 },
      cache_creation_input_tokens: 50,
      completion_tokens_details: { reasoning_tokens: 8 },
    })
    const embedded = callOf(
      toJsonTexts({
        'mlflow.spanType': 'EMBEDDING',
        'mlflow.spanInputs': { model: 'text-embedding-3-small', input: 'x' },
        'mlflow.llm.model': 'text-embedding-3-small',
        'mlflow.spanOutputs': { data: [], usage: { prompt_tokens: 7, total_tokens: 7 } },
      }),
    )
    expect(embedded.end.summary?.usage).toMatchObject({
      'text-embedding-3-small': { prompt_tokens: 7 },
    })
  })

  it('a tool has its arguments and its result, and an agent its answer', () => {
    const tool = toJsonTexts({
      'mlflow.spanType': 'TOOL',
      'mlflow.spanInputs': PARIS,
      'mlflow.spanOutputs': 'sunny',
    })
    const { start, end } = callOf(tool)
    expect([start.attributes.kind, start.inputs, end.output]).toEqual(['tool', PARIS, 'sunny'])
  })
})

// litellm 1.110.2 has the details of tokens only there, as Python prints a dictionary.
describe('a report of usage that Python printed', () => {
  const base = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'm',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
  }

  it('gives the counts that no attribute has', () => {
    const printed =
      "{'prompt_tokens': 100, 'completion_tokens': 20, 'total_tokens': 120, 'note': \"it's \\\"None\\\"\", " +
      "'prompt_tokens_details': {'cached_tokens': 64, 'audio_tokens': None}, 'is': True, " +
      "'completion_tokens_details': {'reasoning_tokens': 5}}"
    const { end } = callOf({ ...base, 'metadata.usage_object': printed })
    expect(end.summary).toEqual({ usage: { m: COUNTED } })
  })

  it.each(["{'a': 'b", 'Usage(prompt_tokens=1)', '{"a": object at 0x7f}', '\\', "{'\\"])(
    'is left alone where it is no dictionary: %s',
    (printed) => {
      const { end } = callOf({ ...base, 'metadata.usage_object': printed })
      expect(end.summary).toMatchObject({ usage: { m: { prompt_tokens: 100 } } })
    },
  )
})

// agent-framework-core 1.23.0 with the Responses API names the response before as the conversation.
it('the id of a response is no conversation, and stays an attribute', () => {
  const { start } = callOf({ 'gen_ai.conversation.id': 'resp_1', 'session.id': 's1' })
  expect(start.thread_id).toBe('s1')
  expect(start.attributes).toEqual({ gen_ai: { conversation: { id: 'resp_1' } } })
  expect(callOf({ 'gen_ai.conversation.id': 'conv_1' }).start.thread_id).toBe('conv_1')
})
