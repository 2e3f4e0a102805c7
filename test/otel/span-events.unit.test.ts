import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json, changes: Json = {}) =>
  toSpanCall(buildSpan({ attributes, ...changes }), 'acme/demo')

const SYSTEM = { role: 'system', content: 'Be brief.' }

describe('events of a span', () => {
  const event = (name: string, attributes: Json) => ({ name, time_unix_nano: '1', attributes })

  it.each<[string, ReturnType<typeof event>[]]>([
    [
      'one event with all messages',
      [
        event('gen_ai.client.inference.operation.details', {
          'gen_ai.system_instructions': '[{"type":"text","content":"Be brief."}]',
          'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
          'gen_ai.output.messages':
            '[{"role":"assistant","parts":[{"type":"text","content":"ho"}],"finish_reason":"stop"}]',
        }),
      ],
    ],
    [
      'events with the contents of the first conventions',
      [
        event('gen_ai.content.prompt', {
          'gen_ai.prompt':
            '[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]',
        }),
        event('gen_ai.content.completion', { 'gen_ai.completion': '[{"content":"ho"}]' }),
      ],
    ],
  ])('%s are messages', (_title, events) => {
    const { start, end } = callOf({}, { events })
    expect(start.inputs.messages).toEqual([SYSTEM, { role: 'user', content: 'hi' }])
    expect(end.output).toMatchObject({ choices: [{ message: { content: 'ho' } }] })
    const empty = events.map(({ name }) => event(name, {}))
    const without = callOf({}, { events: empty })
    expect([without.start.inputs, without.end.output]).toEqual([{}, null])
  })

  it('events of the older conventions are messages, too', () => {
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

  it('that tell an answer as its text alone have that text', () => {
    const answerOf = (message: string) => {
      const events = [event('gen_ai.choice', { finish_reason: 'end_turn', message })]
      return callOf({}, { events }).end.output
    }
    for (const content of ['ho', '[1]', '[{"text":"ho"}]', '[{"toolUse":{"name":"f"}}]']) {
      expect(answerOf(content)).toEqual({
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'end_turn' }],
      })
    }
  })

  it('of Strands Agents have contents as in the Converse API', () => {
    const toolUse = { toolUseId: 'c1', name: 'add', input: { a: 1 } }
    const toolResult = { toolUseId: 'c1', status: 'success', content: [{ text: '3' }] }
    const thought = { reasoningContent: { reasoningText: { text: 'hm' } } }
    const { start, end } = callOf(
      { 'gen_ai.operation.name': 'chat' },
      {
        scope: { name: 'strands.telemetry.tracer', version: '', attributes: {} },
        events: [
          event('gen_ai.user.message', { content: JSON.stringify([{ text: '[{"text":1}]' }]) }),
          event('gen_ai.assistant.message', { content: JSON.stringify([{ toolUse }]) }),
          event('gen_ai.tool.message', { content: JSON.stringify([{ toolResult }]) }),
          event('gen_ai.choice', { message: JSON.stringify([thought, { text: 'ho' }]) }),
        ],
      },
    )
    const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
    expect(start.inputs.messages).toEqual([
      { role: 'user', content: '[{"text":1}]' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: '3', tool_call_id: 'c1' },
    ])
    expect(end.output).toMatchObject({
      choices: [{ message: { content: 'ho', reasoning_content: 'hm' } }],
    })
  })
})
