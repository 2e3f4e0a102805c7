/** A recorded stream has what the whole answer of the same engine has. */
import { describe, expect, it } from 'vitest'
import { createCompletionRecord } from '../../../src/inference/chat/record/completion-record.ts'

type Fields = Readonly<Record<string, unknown>>

/** Records chunks, each given by the members of its choice. */
function record(choices: readonly Fields[], chunk: Fields = {}) {
  const record = createCompletionRecord({ isStream: true, keepsOutput: true, now: () => 7 })
  for (const choice of choices) {
    const json = JSON.stringify({ id: 'c', ...chunk, choices: [{ index: 0, ...choice }] })
    record.note({ type: 'relayed', texts: [{ json, value: JSON.parse(json) }] })
  }
  return { record, output: JSON.parse(record.output()) }
}

const messageOf = (deltas: readonly Fields[]) =>
  record(deltas.map((delta) => ({ delta }))).output.choices[0].message

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
const SOURCE = { url: 'https://a.example', title: 'A' }

describe('a recorded stream', () => {
  it.each<[string, Fields[], Fields]>([
    [
      'images',
      [
        { content: '' },
        { images: [{ ...IMAGE, index: 0 }] },
        { images: [{ ...IMAGE, index: 1 }], content: '' },
      ],
      {
        content: null,
        images: [
          { ...IMAGE, index: 0 },
          { ...IMAGE, index: 1 },
        ],
      },
    ],
    [
      'images without indexes',
      [{ images: [IMAGE] }, { images: [IMAGE] }],
      { content: null, images: [IMAGE, IMAGE] },
    ],
    [
      'reasoning details',
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'a', format: 'f', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.text', text: 'a', format: 'f', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: 'e', index: 0 }] },
        { content: 'b' },
      ],
      {
        content: 'b',
        reasoning_details: [
          { type: 'reasoning.text', text: 'aa', format: 'f', index: 0, signature: 'sig' },
          { type: 'reasoning.encrypted', data: 'x', id: 'e', index: 0 },
        ],
      },
    ],
    [
      'thinking blocks without indexes',
      [
        { thinking_blocks: [{ type: 'thinking', thinking: 'a', signature: null }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'b', signature: null }] },
        { thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'sig' }] },
        { thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] },
      ],
      {
        content: null,
        thinking_blocks: [
          { type: 'thinking', thinking: 'ab', signature: 'sig' },
          { type: 'redacted_thinking', data: 'x' },
        ],
      },
    ],
    [
      'members of the provider',
      [
        { provider_specific_fields: { signatures: ['a'], kind: { type: 'k' } } },
        { provider_specific_fields: { signatures: ['b'], kind: { type: 'k', n: 1 } } },
      ],
      {
        content: null,
        provider_specific_fields: { signatures: ['a', 'b'], kind: { type: 'k', n: 1 } },
      },
    ],
    [
      'citations that are repeated as they grow',
      [
        { content: 'a', citations: ['u'], sources: [SOURCE] },
        { content: 'b', citations: ['u', 'v'], sources: [SOURCE] },
      ],
      { content: 'ab', citations: ['u', 'v'], sources: [SOURCE] },
    ],
    [
      'members with the names of inherited ones',
      [JSON.parse('{"__proto__":{"x":1},"constructor":"a"}'), { constructor: 'b' }],
      JSON.parse('{"content":null,"__proto__":{"x":1},"constructor":"ab"}'),
    ],
  ])('%s of a message is recorded', (_name, deltas, message) => {
    expect(JSON.stringify(Object.entries(messageOf(deltas)).sort())).toEqual(
      JSON.stringify(Object.entries({ role: 'assistant', ...message }).sort()),
    )
  })

  it('other members of a tool call are recorded, such as the signature of a thought', () => {
    const extra_content = { google: { thought_signature: 'sig' } }
    const call = { index: 0, id: 'c1', type: 'function', extra_content }
    const { tool_calls } = messageOf([
      { tool_calls: [{ ...call, function: { name: 'f', arguments: '', strict: true } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
    ])
    expect(tool_calls).toEqual([
      {
        id: 'c1',
        type: 'function',
        extra_content,
        function: { name: 'f', arguments: '{}', strict: true },
      },
    ])
  })

  it('the last value of the members of a choice and of a chunk is recorded', () => {
    const safe = { hate: { filtered: false, severity: 'safe' } }
    const { output } = record(
      [
        { delta: { content: 'a' }, content_filter_results: {}, native_finish_reason: null },
        { delta: { content: 'b' }, content_filter_results: safe, native_finish_reason: null },
        { delta: {}, content_filter_results: safe, native_finish_reason: 'STOP' },
      ],
      { provider: 'p', citations: ['u', 'v'], obfuscation: 'xyz', usage: null },
    )
    expect(output).toEqual({
      id: 'c',
      object: 'chat.completion',
      provider: 'p',
      citations: ['u', 'v'],
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'ab' },
          content_filter_results: safe,
          native_finish_reason: 'STOP',
          finish_reason: null,
        },
      ],
    })
  })

  it('counts a piece of text that it does not know, and no label', () => {
    const count = (delta: Fields) => record([{ delta }]).record.tokenCount()
    expect(count({ thoughts: [{ type: 't', said: 'a' }] })).toBe(1)
    expect(count({ thoughts: [{ type: 't', id: 'i', n: 1 }] })).toBe(0)
  })

  it('the record limits the number of small members', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => ({ [`m${at}`]: [{}, {}, at] }))
    const deltas = Array.from({ length: 6 }, (_, at) => ({ [`list${at}`]: many }))
    const { record: recorded, output } = record(deltas.map((delta) => ({ delta })))
    expect(recorded.isCut()).toBe(true)
    expect(JSON.stringify(output).length).toBeLessThan(12_000_000)
  })
})
