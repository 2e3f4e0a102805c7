import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ResponseHead } from '../../../src/domain/chat/responses-answer.ts'
import { createResponseWriter, toChunk } from '../../../src/domain/chat/responses-events.ts'
import { walkEvents } from './event-order.ts'
import { findFaults, findResponseFaults } from './openai-types.ts'

const HEAD: ResponseHead = {
  id: `resp_${'0'.repeat(32)}`,
  created_at: 1_700_000_000,
  model: 'm',
  request: { input: 'hi' },
  callsTools: true,
}

type Piece =
  | { kind: 'reasoning' | 'content' | 'refusal'; text: string }
  | { kind: 'call'; name: string; pieces: string[] }

const text = fc.string({ minLength: 1, maxLength: 5 })
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ kind: fc.constantFrom('reasoning', 'content', 'refusal'), text }),
  fc.record({
    kind: fc.constant('call' as const),
    name: text,
    pieces: fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
  }),
)
const finish = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', null)

/** A chat's chunks of some pieces. */
function toChunks(pieces: readonly Piece[]): Record<string, unknown>[] {
  let index = -1
  return pieces.flatMap((one): Record<string, unknown>[] => {
    if (one.kind !== 'call') return [{ choices: [{ index: 0, delta: { [one.kind]: one.text } }] }]
    index += 1
    const first = { index, id: `c${index}`, function: { name: one.name, arguments: '' } }
    const rest = one.pieces.map((part) => ({ index, function: { arguments: part } }))
    return [first, ...rest].map((call) => ({
      choices: [{ index: 0, delta: { tool_calls: [call] } }],
    }))
  })
}

describe('events of a response', () => {
  it('keep the documented order and the types of the openai package, whatever a model answers', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        finish,
        fc.boolean(),
        (pieces, reason, breaks) => {
          const writer = createResponseWriter(HEAD)
          const events = writer.open()
          for (const chunk of toChunks(pieces)) events.push(...writer.add(chunk))
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
            pieces.flatMap((one) => (one.kind === 'call' ? [[one.name, one.pieces.join('')]] : [])),
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
    const message = { role: 'assistant', reasoning: 'why', content: 'so', tool_calls: calls }
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
    for (const [index, call] of calls.entries()) {
      streamed.add({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }] })
    }
    streamed.add({ choices: [], usage })
    streamed.end(1_700_000_001)
    expect(streamed.response()).toEqual(whole.response())
    expect(whole.response()).toMatchObject({
      status: 'completed',
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    })
    expect(findResponseFaults(whole.response())).toEqual([])
  })

  it('refuse pieces of calls that are mixed, and calls without a name, rather than lose them', () => {
    const call = (index: number, name?: string) => ({
      choices: [
        { index: 0, delta: { tool_calls: [{ index, function: { name, arguments: '{' } }] } },
      ],
    })
    const mixed = createResponseWriter(HEAD)
    mixed.add(call(0, 'f'))
    mixed.add(call(1, 'g'))
    expect(() => mixed.add(call(0))).toThrow('mixes the pieces')
    const nameless = createResponseWriter(HEAD)
    nameless.add(call(0))
    expect(() => nameless.end(0)).toThrow('without a name')
  })
})
