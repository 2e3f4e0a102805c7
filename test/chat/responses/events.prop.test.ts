import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toChunk } from '../../../src/domain/chat/message-deltas.ts'
import type { ResponseHead } from '../../../src/domain/chat/responses/response-state.ts'
import { createResponseWriter } from '../../../src/domain/chat/responses/responses-events.ts'
import { walkEvents } from './event-order.ts'
import { findFaults, findResponseFaults } from './openai-types.ts'

const HEAD: ResponseHead = {
  id: `resp_${'0'.repeat(32)}`,
  created_at: 1_700_000_000,
  model: 'm',
  request: { input: 'hi' },
  callsTools: true,
}

const CITED = { start_index: 0, end_index: 3, title: 'B', url: 'http://b' }
const CHAT_CITATION = { type: 'url_citation', url_citation: CITED }
const CITATION = { type: 'url_citation', ...CITED }

type Piece =
  | { kind: 'reasoning' | 'content' | 'refusal'; text: string }
  | { kind: 'call'; name: string; pieces: string[] }
  | { kind: 'mixed'; calls: { name: string; pieces: string[] }[] }

/** How the pieces of calls tell which call they belong to. */
type Indexes = 'all' | 'none' | 'zero'

const text = fc.string({ minLength: 1, maxLength: 5 })
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ kind: fc.constantFrom('reasoning', 'content', 'refusal'), text }),
  fc.record({
    kind: fc.constant('call' as const),
    name: text,
    pieces: fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
  }),
)
/** Never a whole JSON object, to which nothing could be added. */
const part = fc.string({ unit: fc.constantFrom('a', '"', '{', '[', ' '), maxLength: 3 })
const mixed: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('mixed' as const),
  calls: fc.array(fc.record({ name: text, pieces: fc.array(part, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
})
const finish = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', null)

/** A chat's chunks of some pieces. */
function toChunks(pieces: readonly Piece[], indexes: Indexes = 'all'): Record<string, unknown>[] {
  let count = 0
  const begin = (name: string) => {
    const index = { all: count, none: undefined, zero: 0 }[indexes]
    const first = { index, id: `c${count++}`, function: { name, arguments: '' } }
    return { first, rest: (text: string) => ({ index, function: { arguments: text } }) }
  }
  const toDelta = (call: object) => ({ tool_calls: [call] })
  return pieces
    .flatMap((one): object[] => {
      if (one.kind === 'call') {
        const { first, rest } = begin(one.name)
        return [first, ...one.pieces.map(rest)].map(toDelta)
      }
      if (one.kind !== 'mixed') return [{ [one.kind]: one.text }]
      const calls = one.calls.map(({ name, pieces }) => ({ ...begin(name), pieces }))
      const rests = [0, 1, 2].flatMap((at) =>
        calls.flatMap((call) =>
          call.pieces[at] === undefined ? [] : [call.rest(call.pieces[at])],
        ),
      )
      return [...calls.map(({ first }) => first), ...rests].map(toDelta)
    })
    .map((delta) => ({ choices: [{ index: 0, delta }] }))
}

describe('events of a response', () => {
  it('keep the documented order and the types of the openai package, whatever a model answers', () => {
    fc.assert(
      fc.property(
        // Only an index says to which call a piece belongs after another call has begun.
        fc.oneof(
          fc.tuple(fc.array(fc.oneof(piece, mixed), { maxLength: 8 }), fc.constant('all' as const)),
          fc.tuple(fc.array(piece, { maxLength: 8 }), fc.constantFrom('none', 'zero')),
        ),
        finish,
        fc.boolean(),
        ([pieces, indexes], reason, breaks) => {
          const writer = createResponseWriter(HEAD)
          const events = writer.open()
          for (const chunk of toChunks(pieces, indexes)) events.push(...writer.add(chunk))
          events.push(...writer.add({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }))
          const error = { code: 'server_error', message: 'It broke.' }
          events.push(...(breaks ? writer.fail(error) : writer.end(1_700_000_001)))
          const items = walkEvents(events)
          expect(events.flatMap(findFaults)).toEqual([])
          const said = (kind: string) =>
            pieces.flatMap((one) => (one.kind === kind && 'text' in one ? [one.text] : [])).join('')
          const heard = (type: string) =>
            items
              .flatMap(({ content = [] }) => content)
              .flatMap((part: { type: string; text?: string; refusal?: string }) =>
                part.type === type ? [part.text ?? part.refusal] : [],
              )
              .join('')
          expect(heard('output_text')).toBe(said('content'))
          expect(heard('reasoning_text')).toBe(said('reasoning'))
          expect(heard('refusal')).toBe(said('refusal'))
          const calls = items.filter(({ type }) => type === 'function_call')
          expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual(
            pieces
              .flatMap((one) =>
                one.kind === 'call' ? [one] : one.kind === 'mixed' ? one.calls : [],
              )
              .map(({ name, pieces }) => [name, pieces.join('')]),
          )
        },
      ),
    )
  })

  it('of a whole answer add up to the same items as those of a streamed one', () => {
    const calls = [
      { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', function: { name: 'g', arguments: '' } },
    ]
    const message = {
      role: 'assistant',
      reasoning: 'why',
      content: 'so',
      tool_calls: calls,
      annotations: [CHAT_CITATION],
    }
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    const whole = createResponseWriter(HEAD)
    whole.open()
    whole.add(toChunk({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }))
    whole.end(1_700_000_001)
    const streamed = createResponseWriter(HEAD)
    streamed.open()
    for (const chunk of toChunks([
      { kind: 'reasoning', text: 'why' },
      { kind: 'content', text: 's' },
      { kind: 'content', text: 'o' },
    ])) {
      streamed.add(chunk)
    }
    streamed.add({ choices: [{ index: 0, delta: { annotations: [CHAT_CITATION] } }] })
    for (const [index, call] of calls.entries()) {
      streamed.add({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }] })
    }
    streamed.add({ choices: [], usage })
    streamed.end(1_700_000_001)
    expect(streamed.response()).toEqual(whole.response())
    expect(whole.response()).toMatchObject({
      status: 'completed',
      output: [{}, { content: [{ annotations: [CITATION] }] }, {}, {}],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    })
    expect(findResponseFaults(whole.response())).toEqual([])
  })

  it.each([
    [
      [
        { index: 1, message: { content: 'b' } },
        { index: 0, message: { content: 'a' } },
      ],
      'a',
    ],
    [[{ message: { content: 'a' } }, { message: { content: 'b' } }], 'a'],
    [[{ index: 1, message: { content: 'b' } }], 'b'],
  ])('have one choice of a whole answer, the first by index: %j', (choices, text) => {
    const writer = createResponseWriter(HEAD)
    writer.open()
    writer.add(toChunk({ choices, x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } }))
    writer.end(1_700_000_001)
    expect(writer.response()).toMatchObject({
      output: [{ content: [{ text }] }],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    })
  })

  it('have the last reason that is not empty', () => {
    const writer = createResponseWriter(HEAD)
    writer.open()
    for (const finish_reason of ['', 'length', '']) {
      writer.add({ choices: [{ delta: { content: 'a' }, finish_reason }] })
    }
    writer.end(1_700_000_001)
    expect(writer.response()).toMatchObject({ status: 'incomplete' })
  })

  it.each<[string, object[], object[]]>([
    [
      'content in parts',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] },
        { content: [{ type: 'thinking', thinking: 'm' }] },
        { content: [{ type: 'text', text: 'se' }] },
        { content: 'ven' },
        { content: [{ type: 'refusal', refusal: 'no' }], function_call: { name: '' } },
      ],
      [
        { type: 'reasoning', content: [{ text: 'hm' }] },
        { type: 'message', content: [{ text: 'seven' }, { refusal: 'no' }] },
      ],
    ],
    [
      'citations, also those that come before their text, as one, or with others',
      [
        { annotations: { type: 'url_citation', url_citation: { url: 'http://a' } } },
        { content: 'see', annotations: [] },
        { annotations: [CHAT_CITATION, { type: 'file', file: { name: 'f' } }] },
      ],
      [
        {
          content: [
            {
              text: 'see',
              annotations: [{ ...CITATION, end_index: 0, title: '', url: 'http://a' }, CITATION],
            },
          ],
        },
      ],
    ],
    [
      'a call in the deprecated form',
      [{ function_call: { name: 'f', arguments: '{' } }, { function_call: { arguments: '}' } }],
      [{ type: 'function_call', name: 'f', arguments: '{}' }],
    ],
    [
      'calls that all have the index 0, of which one has a new id with each piece',
      [
        { tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a":' } }] },
        { tool_calls: [{ index: 0, id: 'c9', function: { arguments: '1}' } }] },
        { tool_calls: [{ index: 0, id: 'c2', function: { name: 'g', arguments: '{"b":2}' } }] },
      ],
      [
        { call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { call_id: 'c2', name: 'g', arguments: '{"b":2}' },
      ],
    ],
  ])('have all of %s', (_name, deltas, items) => {
    const writer = createResponseWriter(HEAD)
    const events = writer.open()
    for (const delta of deltas) events.push(...writer.add({ choices: [{ index: 0, delta }] }))
    events.push(...writer.end(1_700_000_001))
    expect(walkEvents(events)).toMatchObject(items)
    expect(events.flatMap(findFaults)).toEqual([])
  })

  it('end with the tier that the upstream reported, else with the requested one', () => {
    const head = { ...HEAD, request: { input: 'hi', service_tier: 'auto' } }
    const choices = [{ index: 0, message: { content: 'a' }, delta: { content: 'a' } }]
    for (const service_tier of ['flex', null]) {
      const answer = { choices, service_tier }
      for (const chunk of [answer, toChunk(answer)]) {
        const writer = createResponseWriter(head)
        expect(writer.open()[0]).toMatchObject({ response: { service_tier: 'auto' } })
        writer.add(chunk)
        const ended = writer.end(1_700_000_001).at(-1)
        expect(ended).toMatchObject({ response: { service_tier: service_tier ?? 'auto' } })
      }
    }
  })

  it('have any number of log-probabilities that come at once', () => {
    const writer = createResponseWriter(HEAD)
    writer.open()
    const content = Array.from({ length: 150_000 }, () => ({ token: 'a', logprob: -1 }))
    writer.add({ choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content } }] })
    writer.end(1_700_000_001)
    const [item] = writer.response().output as { content: { logprobs: unknown[] }[] }[]
    expect(item?.content[0]?.logprobs).toHaveLength(150_000)
  })

  it.each<[string, object]>([
    ['neither text nor parts', { content: { text: 'a' } }],
    ['neither text nor thinking', { content: ['a'] }],
    ['neither text nor thinking', { content: [{ type: 'reference', reference_ids: [1] }] }],
    ['thinking that is no text', { content: [{ type: 'thinking', thinking: [{ x: 1 }] }] }],
    ['audio', { audio: { transcript: 'a' } }],
    ['no list', { tool_calls: { index: 0, function: { name: 'f' } } }],
    ['arguments that are no text', { tool_calls: [{ function: { name: 'f', arguments: 1 } }] }],
    ['too many tool calls', { tool_calls: Array(1_001).fill({ function: { name: 'f' } }) }],
  ])('refuse rather than lose what is no answer of a response: %s', (message, delta) => {
    const writer = createResponseWriter(HEAD)
    expect(() => writer.add({ choices: [{ index: 0, delta }] })).toThrow(message)
  })

  it('refuse more of a call that was whole, and calls without a name, rather than lose them', () => {
    const call = (index: number, text: string, name?: string) => ({
      choices: [
        { index: 0, delta: { tool_calls: [{ index, function: { name, arguments: text } }] } },
      ],
    })
    const whole = createResponseWriter(HEAD)
    whole.add(call(0, '{}', 'f'))
    whole.add(call(1, '{', 'g'))
    whole.add(call(0, '\n'))
    expect(() => whole.add(call(0, '{'))).toThrow('were complete')
    const nameless = createResponseWriter(HEAD)
    nameless.add(call(0, '{'))
    expect(() => nameless.end(0)).toThrow('without a name')
  })
})
