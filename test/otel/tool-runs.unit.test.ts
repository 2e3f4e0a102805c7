import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const outputOf = (messages: readonly Json[]) =>
  toSpanCall(
    buildSpan({
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.output.messages': JSON.stringify(messages),
      },
    }),
    'acme/demo',
  ).end.output

const CALL = { type: 'tool_call', id: 'c1', name: 'get_weather', arguments: { city: 'Paris' } }
const RESULT = { type: 'tool_call_response', id: 'c1', response: { sky: 'sunny' } }
const TEXT = { type: 'text', content: 'It is sunny.' }

const tool_calls = [
  { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
]
const result = { role: 'tool', content: '{"sky":"sunny"}', tool_call_id: 'c1' }
const answer = {
  index: 0,
  message: { role: 'assistant', content: 'It is sunny.' },
  finish_reason: 'stop',
}

describe('results of tools in the output of an agent', () => {
  it('are no choices where they are parts of its message, as in the Vercel AI SDK', () => {
    const said = { role: 'assistant', parts: [TEXT, CALL, RESULT], finish_reason: 'stop' }
    expect(outputOf([said])).toEqual({
      choices: [answer],
      messages: [
        { role: 'assistant', content: 'It is sunny.', tool_calls, finish_reason: 'stop' },
        result,
      ],
    })
  })

  it('are no choices where they are messages, as in the Agent Framework', () => {
    const run = [
      { role: 'assistant', parts: [CALL] },
      { role: 'tool', parts: [RESULT] },
      { role: 'assistant', parts: [TEXT] },
    ]
    expect(outputOf(run)).toEqual({
      choices: [answer],
      messages: [
        { role: 'assistant', content: null, tool_calls },
        result,
        { role: 'assistant', content: 'It is sunny.' },
      ],
    })
  })

  it('leave the calls that still have none in the answer', () => {
    const open = { ...CALL, id: 'c2' }
    expect(outputOf([{ role: 'assistant', parts: [CALL, open, RESULT] }])).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'c2' }] } }],
    })
  })
})
