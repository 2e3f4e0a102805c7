import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json) => toSpanCall(buildSpan({ attributes }), 'acme/demo')

const functionOf = (name: string, args: string) => ({ name, arguments: args })

describe("a span of Google's ADK before 2.0", () => {
  const at = 'gcp.vertex.agent'

  it('has the messages, tools, tokens and session of a model call', () => {
    const call = { id: 'call_1', args: { city: 'Paris' }, name: 'get_weather' }
    const response = { id: 'call_1', name: 'get_weather', response: { sky: 'sunny' } }
    const { start, end } = callOf({
      'gen_ai.system': at,
      'gen_ai.request.model': 'openai/gpt-x',
      [`${at}.session_id`]: 's1',
      [`${at}.llm_request`]: JSON.stringify({
        model: 'openai/gpt-x',
        config: {
          system_instruction: 'Be kind.',
          tools: [{ function_declarations: [{ name: 'get_weather' }] }],
        },
        contents: [
          { parts: [{ text: 'weather in Paris?' }], role: 'user' },
          { parts: [{ function_call: call }], role: 'model' },
          { parts: [{ function_response: response }], role: 'user' },
        ],
      }),
      [`${at}.llm_response`]: JSON.stringify({
        model_version: 'gpt-x-2026',
        content: {
          parts: [{ text: 'hm', thought: true }, { text: 'It is sunny in Paris.' }],
          role: 'model',
        },
        usage_metadata: { cached_content_token_count: 8 },
      }),
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.response.finish_reasons': ['stop'],
    })
    expect(start.thread_id).toBe('s1')
    expect(start.inputs).toEqual({
      model: 'openai/gpt-x',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'weather in Paris?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: functionOf('get_weather', '{"city":"Paris"}'),
            },
          ],
        },
        { role: 'tool', content: '{"sky":"sunny"}', tool_call_id: 'call_1' },
      ],
      tools: [{ name: 'get_weather' }],
    })
    const message = {
      role: 'assistant',
      content: 'It is sunny in Paris.',
      reasoning_content: 'hm',
    }
    expect(end.output).toEqual({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
    expect(end.summary).toMatchObject({
      usage: { 'gpt-x-2026': { prompt_tokens: 20, prompt_tokens_details: { cached_tokens: 8 } } },
    })
  })

  it('has the arguments and the result of a tool', () => {
    const { start, end } = callOf({
      'gen_ai.operation.name': 'execute_tool',
      [`${at}.llm_request`]: '{}',
      [`${at}.llm_response`]: '{}',
      [`${at}.tool_call_args`]: '{"city": "Paris"}',
      [`${at}.tool_response`]: '{"sky": "sunny"}',
    })
    expect([start.inputs, end.output]).toEqual([{ city: 'Paris' }, { sky: 'sunny' }])
  })
})

describe('a span of Pydantic AI', () => {
  it('has the texts and the vectors of an embedding', () => {
    const { start, end } = callOf({
      'gen_ai.operation.name': 'embeddings',
      inputs: '["x"]',
      embeddings: '[[0.25, -0.5, 1.0]]',
    })
    expect(start.inputs).toEqual({ value: ['x'] })
    expect(JSON.stringify(end.output)).toMatch(/^\[\[0\.25,-0\.5,1(\.0)?\]\]$/)
  })
})

describe('a message', () => {
  it('has a call once that OpenInference names among its contents and beside them', () => {
    const at = 'llm.output_messages.0.message'
    const { end } = callOf({
      [`${at}.role`]: 'assistant',
      [`${at}.contents.0.message_content.type`]: 'text',
      [`${at}.contents.0.message_content.text`]: 'I look.',
      [`${at}.contents.1.message_content.type`]: 'tool_use',
      ...Object.fromEntries(
        [`${at}.contents.1`, `${at}.tool_calls.0`].flatMap((place) => [
          [`${place}.tool_call.id`, 'toolu_1'],
          [`${place}.tool_call.function.name`, 'get_weather'],
          [`${place}.tool_call.function.arguments`, '{"city": "Paris"}'],
        ]),
      ),
    })
    const tool_calls = [
      {
        id: 'toolu_1',
        type: 'function',
        function: functionOf('get_weather', '{"city": "Paris"}'),
      },
    ]
    const message = { role: 'assistant', content: 'I look.', tool_calls }
    expect(end.output).toEqual({ choices: [{ index: 0, message, finish_reason: null }] })
  })

  it('of a streamed answer of LangChain by OpenLLMetry is that of the assistant', () => {
    const said = { role: 'unknown', parts: [{ type: 'text', content: 'hi' }] }
    const { end } = callOf({ 'gen_ai.output.messages': JSON.stringify([said]) })
    expect(end.output).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
  })

  it('shows the bytes of an image as one, and no others', () => {
    const contentOf = (mime_type: string, modality: string) => {
      const part = { type: 'blob', modality, mime_type, content: 'iVBORw==' }
      const asked = { role: 'user', parts: [part] }
      const { inputs } = callOf({ 'gen_ai.input.messages': JSON.stringify([asked]) }).start
      return [part, (inputs.messages as { content: unknown[] }[])[0]?.content[0]]
    }
    expect(contentOf('image/png', 'image')[1]).toEqual({
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,iVBORw==' },
    })
    const [part, shown] = contentOf('audio/wav', 'audio')
    expect(shown).toEqual(part)
  })
})

describe("a span of AG2's", () => {
  const usageOf = (attributes: Json) => {
    const counts = { 'gen_ai.usage.input_tokens': 2104, 'gen_ai.usage.output_tokens': 170 }
    const thoughts = { 'gen_ai.response.model': 'gpt-5', 'gen_ai.usage.thinking_tokens': 64 }
    const scope = { name: 'opentelemetry.instrumentation.ag2', version: '', attributes: {} }
    const span = buildSpan({ attributes: { ...counts, ...thoughts, ...attributes }, scope })
    return readUsage(toSpanCall(span, 'acme/demo').end?.summary)
  }

  it('counts the thoughts of a model call', () => {
    const usage = { input_tokens: 2104, output_tokens: 170, reasoning_tokens: 64 }
    expect(usageOf({ 'gen_ai.operation.name': 'chat' })).toMatchObject([usage])
  })

  it('counts its record of usage only where no model call has it', () => {
    expect(usageOf({ 'ag2.usage.kind': 'model_call' })).toEqual([])
    expect(usageOf({ 'ag2.usage.kind': 'compaction' })).toMatchObject([{ input_tokens: 2104 }])
  })
})

it('counts what the response in the last event of a stream has, beside the counts of OpenInference', () => {
  const usage = {
    prompt_tokens: 2407,
    completion_tokens: 209,
    total_tokens: 2616,
    prompt_tokens_details: { cached_tokens: 329 },
    completion_tokens_details: { reasoning_tokens: 73 },
  }
  const { end } = callOf({
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'mistral-large-latest',
    'llm.token_count.prompt': 2407,
    'llm.token_count.completion': 209,
    'output.mime_type': 'application/json',
    'output.value': JSON.stringify({ data: { id: 'chatcmpl-4', usage } }),
  })
  expect(readUsage(end.summary)).toMatchObject([
    { input_tokens: 2407, cache_read_input_tokens: 329, output_tokens: 209, reasoning_tokens: 73 },
  ])
})

describe("a span of Laminar's", () => {
  const ids = {
    'lmnr.association.properties.session_id': 'talk-1',
    'lmnr.association.properties.user_id': 'user-1',
  }

  it('has the kind, the conversation and the user, whatever made it', () => {
    const span = { 'lmnr.span.type': 'LLM', 'gen_ai.request.model': 'gpt-5', ...ids }
    const { start } = callOf(span)
    expect(start).toMatchObject({
      thread_id: 'talk-1',
      attributes: { kind: 'llm', user: 'user-1' },
    })
    const { attributes } = callOf({ 'gen_ai.operation.name': 'embeddings', ...span }).start
    expect(attributes).toMatchObject({ kind: 'embedding' })
  })

  it('has the arguments and the result of a tool', () => {
    const { start, end } = callOf({
      'lmnr.span.type': 'TOOL',
      'lmnr.span.input': '{"city": "Paris"}',
      'lmnr.span.output': '"It is sunny in Paris."',
    })
    expect(start).toMatchObject({ attributes: { kind: 'tool' }, inputs: { city: 'Paris' } })
    expect(end.output).toBe('It is sunny in Paris.')
  })
})
