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
})
