import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan, LIBRARIES, recordedSpans } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, changes: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...changes }), 'acme/demo')

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

  it('rebuilds flattened messages, with tool calls', () => {
    const at = 'llm.input_messages.0.message'
    const { start } = callOf({
      'openinference.span.kind': 'LLM',
      [`${at}.role`]: 'assistant',
      [`${at}.tool_calls.0.tool_call.id`]: 'c1',
      [`${at}.tool_calls.0.tool_call.function.name`]: 'add',
      [`${at}.tool_calls.0.tool_call.function.arguments`]: '{"a":1}',
    })
    const called = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
    expect(start.inputs.messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [called] },
    ])
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

  it('tells an error by its status, else by its exception', () => {
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

  it('events of the older conventions are messages, too', () => {
    const event = (name: string, attributes: Json) => ({ name, time_unix_nano: '1', attributes })
    const { start, end } = callOf(
      { 'gen_ai.operation.name': 'chat' },
      {
        events: [
          event('gen_ai.user.message', { content: 'hi' }),
          event('gen_ai.choice', { index: 0, finish_reason: 'stop', message: '{"content":"ho"}' }),
        ],
      },
    )
    expect(start.inputs.messages).toEqual([{ role: 'user', content: 'hi' }])
    expect(end.output).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'ho' }, finish_reason: 'stop' }],
    })
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
