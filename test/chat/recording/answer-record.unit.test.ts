/** What is recorded of an answer while its pieces pass. */
import { describe, expect, it } from 'vitest'
import { createAnswerRecord } from '../../../src/inference/chat/answer-record.ts'
import { finish, piece, prompt } from '../../support/scripted-backend.ts'

describe('the record of an answer', () => {
  it('has the tool calls of a backend, whole, and the time of the first', () => {
    const record = createAnswerRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    record.note(prompt())
    expect(record.firstTokenAt()).toBeNull()
    const first = { index: 0, id: 'call_1', name: 'add', arguments: '' }
    record.note(piece('', { toolCalls: [first] }))
    expect(record.firstTokenAt()).toBe(7)
    record.note(piece('', { toolCalls: [{ index: 0, arguments: '{"a": 1}' }] }))
    record.note(finish({ finish_reason: 'tool_calls' }))
    const [choice] = JSON.parse(record.output()).choices
    expect(choice).toMatchObject({
      message: {
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } },
        ],
      },
      finish_reason: 'tool_calls',
    })
  })
})
