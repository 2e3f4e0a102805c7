/** What is recorded of an answer while its pieces pass. */
import { describe, expect, it } from 'vitest'
import {
  createCompletionRecord,
  RECORDED_CHARS_MAX,
} from '../../../src/inference/chat/record/completion-record.ts'
import { finish, piece, prompt } from '../../support/scripted-backend.ts'

describe('the record of an answer', () => {
  it('a recorded response has the complete tool calls of a backend, and the time of the first', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
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

  const call = (id: string | undefined, name: string, index?: number) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: '' },
  })
  const rest = (text: string, index?: number) => ({ index, function: { arguments: text } })
  const whole = (id: string | undefined, name: string, text: string) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  })

  it.each<[string, object[], object]>([
    [
      'calls without an index',
      [
        { tool_calls: [call('c1', 'f')] },
        { tool_calls: [rest('{"a"')] },
        { tool_calls: [rest(':1}')] },
        { tool_calls: [call('c2', 'g'), rest('{}')] },
        { tool_calls: [{ id: 'c1', function: { arguments: ' ' } }] },
      ],
      { content: null, tool_calls: [whole('c1', 'f', '{"a":1} '), whole('c2', 'g', '{}')] },
    ],
    [
      'calls without index and id',
      [{ tool_calls: [call(undefined, 'f'), rest('{}')] }, { tool_calls: [call('', 'f')] }],
      { content: null, tool_calls: [whole(undefined, 'f', '{}'), whole('', 'f', '')] },
    ],
    [
      'calls that all have the index 0',
      [
        { tool_calls: [call('c1', 'f', 0)] },
        { tool_calls: [rest('{"a":1}', 0)] },
        { tool_calls: [call('c2', 'g', 0)] },
        { tool_calls: [{ ...rest('{"b":2}', 0), id: 'other' }] },
      ],
      { content: null, tool_calls: [whole('c1', 'f', '{"a":1}'), whole('c2', 'g', '{"b":2}')] },
    ],
    [
      'calls whose pieces are mixed',
      [
        { tool_calls: [call('c2', 'g', 1), call('c1', 'f', 0)] },
        { tool_calls: [rest('{"b"', 1), rest('{"a"', 0)] },
        { tool_calls: [rest(':2}', 1), rest(':1}', 0)] },
      ],
      { content: null, tool_calls: [whole('c1', 'f', '{"a":1}'), whole('c2', 'g', '{"b":2}')] },
    ],
    [
      'arguments that are an object',
      [{ tool_calls: [{ ...call('c1', 'f', 0), function: { name: 'f', arguments: { a: 1 } } }] }],
      { content: null, tool_calls: [whole('c1', 'f', '{"a":1}')] },
    ],
    [
      'a call in the deprecated form',
      [
        { function_call: { name: 'f', arguments: '{"a"' } },
        { function_call: { arguments: ':1}' } },
      ],
      { content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
    ],
    [
      'audio',
      [{ audio: { id: 'a1', transcript: 'He' } }, { audio: { transcript: 'llo', data: 'AAAA' } }],
      { content: null, audio: { id: 'a1', transcript: 'Hello', data: 'AAAA' } },
    ],
    [
      'annotations',
      [
        { content: 'See [1]' },
        { annotations: [{ type: 'url_citation', n: 1 }] },
        { annotations: { type: 'url_citation', n: 2 } },
      ],
      { content: 'See [1]', annotations: [1, 2].map((n) => ({ type: 'url_citation', n })) },
    ],
    [
      'content that is a list of parts',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] },
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'm' }], closed: true }] },
        { content: 'se' },
        {
          content: [
            { type: 'text', text: 'ven' },
            { type: 'reference', reference_ids: [1] },
          ],
        },
        { content: '!', function_call: { name: '', arguments: '' } },
      ],
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
          { type: 'text', text: 'seven' },
          { type: 'reference', reference_ids: [1] },
          { type: 'text', text: '!' },
        ],
      },
    ],
  ])('the record has %s of a relayed stream as of a whole response', (_name, deltas, message) => {
    const { record, note } = open()
    for (const delta of deltas) note(delta)
    expect(JSON.parse(record.output()).choices[0].message).toEqual({
      role: 'assistant',
      ...message,
    })
    expect(record.firstTokenAt()).toBe(7)
    expect(record.isCut()).toBe(false)
  })

  it('a recorded response has the id and the model of the first chunk that has them', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    const choices = [{ index: 0, delta: { content: 'a' } }]
    const chunks = [
      { id: '', model: '', created: 0, choices: [], prompt_filter_results: [] },
      { id: 'c1', model: 'm', created: 5, choices },
      { id: 'c2', model: 'n', created: 6, choices },
    ]
    for (const value of chunks) {
      record.note({ type: 'relayed', texts: [{ json: JSON.stringify(value), value }] })
    }
    expect(JSON.parse(record.output())).toMatchObject({ id: 'c1', model: 'm', created: 5 })
  })

  it('a recorded stream has the tier and the fingerprint, like a whole response', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    const told = { id: 'c1', model: 'm', service_tier: 'flex', system_fingerprint: 'fp' }
    const value = { ...told, choices: [{ index: 0, delta: { content: 'a' } }] }
    record.note({ type: 'relayed', texts: [{ json: JSON.stringify(value), value }] })
    expect(JSON.parse(record.output())).toMatchObject(told)
  })

  it('a recorded response has choices without an index, and the first non-empty finish reason', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    const choices = [
      { delta: { content: 'a' }, finish_reason: '' },
      { delta: { content: 'b' }, finish_reason: 'stop' },
      { delta: {}, finish_reason: '' },
    ]
    record.note({
      type: 'relayed',
      texts: choices.map((choice) => ({ json: '{}', value: { choices: [choice] } })),
    })
    expect(JSON.parse(record.output()).choices).toMatchObject([
      { index: 0, message: { content: 'ab' }, finish_reason: 'stop' },
    ])
  })

  it.each([
    [{ total_tokens: 1e308 }, 1],
    [{ total_tokens: { valueOf: 1, toString: 1 } }, 1],
    [{ total_tokens: 'many', input_tokens: 4, output_tokens: 3 }, 7],
    [{ prompt_tokens: 4, completion_tokens: 2.5 }, 4],
  ])(
    'a recorded response counts whole numbers of the usage %j, otherwise its chunks',
    (usage, count) => {
      const { note, record } = open()
      note({ content: 'a' })
      record.note({ type: 'relayed', texts: [{ json: '{}', value: { usage } }] })
      expect(record.tokenCount()).toBe(count)
    },
  )

  it('log-probabilities whose token is not a text are recorded unchanged', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    const token = { toString: 1, valueOf: 1 }
    const choice = { index: 0, delta: {}, logprobs: { content: [{ token, logprob: -1 }] } }
    record.note({ type: 'relayed', texts: [{ json: '{}', value: { choices: [choice] } }] })
    expect(JSON.parse(record.output()).choices[0].logprobs.content).toMatchObject([{ token }])
  })

  it('any number of token ids in one chunk is recorded', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    const token_ids = Array.from({ length: 150_000 }, () => 7)
    const choice = { index: 0, delta: { content: 'a' }, token_ids }
    record.note({ type: 'relayed', texts: [{ json: '{}', value: { choices: [choice] } }] })
    expect(JSON.parse(record.output()).choices[0].token_ids).toEqual(token_ids)
  })

  it('the log-probabilities of a refusal are recorded, whose message has no content', () => {
    const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
    for (const text of ['I ', 'cannot']) {
      const refusal = [{ token: text, logprob: -1, bytes: null, top_logprobs: [{ token: 'x' }] }]
      const choice = { index: 0, delta: { refusal: text }, logprobs: { content: null, refusal } }
      record.note({ type: 'relayed', texts: [{ json: '{}', value: { choices: [choice] } }] })
    }
    const entry = { logprob: -1, bytes: null, top_logprobs: [] }
    expect(JSON.parse(record.output()).choices).toMatchObject([
      {
        message: { role: 'assistant', content: null, refusal: 'I cannot' },
        logprobs: {
          content: null,
          refusal: [
            { token: 'I ', ...entry },
            { token: 'cannot', ...entry },
          ],
        },
      },
    ])
  })

  it('arguments that are an object are recorded with every digit', () => {
    const { record, note } = open()
    note('{"tool_calls":[{"function":{"name":"f","arguments":{"n":12345678901234567890}}}]}')
    const [sent] = JSON.parse(record.output()).choices[0].message.tool_calls
    expect(sent.function.arguments).toBe('{"n":12345678901234567890}')
  })

  it('the record limits lists and audio like texts', () => {
    const { record, note } = open()
    const long = 'x'.repeat(RECORDED_CHARS_MAX)
    note({ content: [{ type: 'text', text: 'a' }], audio: { transcript: 'b' } })
    note({
      content: [
        { type: 'text', text: long },
        { type: 'other', long },
      ],
    })
    note({ audio: { transcript: long }, annotations: [{ long }] })
    expect(record.isCut()).toBe(true)
    expect(record.output().length).toBeLessThan(RECORDED_CHARS_MAX + 1_000)
    expect(JSON.parse(record.output()).choices[0].message).not.toHaveProperty('annotations')
  })
})

/** The record of a relayed stream, which takes the delta of one choice, or its text. */
function open() {
  const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
  return {
    record,
    note(delta: object | string) {
      const text = typeof delta === 'string' ? delta : JSON.stringify(delta)
      const json = `{"choices":[{"index":0,"delta":${text}}]}`
      record.note({ type: 'relayed', texts: [{ json, value: JSON.parse(json) }] })
    },
  }
}
