/** Cached completions, replayed in the shape that another request asks for. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delta, RelayedText } from '../../../src/inference/backend.ts'
import {
  createResponseCapture,
  type ResponseShape,
  replayResponse,
} from '../../../src/inference/chat/cache/cached-response.ts'
import { renderChunks } from '../../../src/inference/chat/chunks.ts'
import { createCollector } from '../../../src/inference/chat/whole-completion.ts'
import { finish, logprob, piece, prompt } from '../../support/scripted-backend.ts'

const text = fc.string({ maxLength: 6 })
const filled = fc.string({ minLength: 1, maxLength: 6 })

function shapeOf(isStream: boolean, choiceCount: number): ResponseShape {
  return { service: 'chat', isStream, includesUsage: true, choiceCount }
}

function store(deltas: readonly Delta[], shape: ResponseShape): string {
  const capture = createResponseCapture(shape)
  for (const delta of deltas) capture.add(delta)
  const stored = capture.render()
  if (stored === null) throw new Error('not cached')
  return stored
}

const envelopeOf = (choiceCount: number) => {
  return { id: 'c', created: 1, model: 'm', role: 'assistant', choiceCount }
}

function collect(deltas: readonly Delta[], choiceCount: number): unknown {
  const collector = createCollector(envelopeOf(choiceCount))
  for (const delta of deltas) collector.add(delta)
  return JSON.parse(collector.render())
}

// biome-ignore lint/suspicious/noExplicitAny: chunks are read as a client reads them.
type Fields = Record<string, any>

/** What a client joins from the chunks of a stream, per choice, and the usage. */
async function joinChunks(deltas: readonly Delta[], choiceCount: number) {
  async function* yieldAll() {
    yield* deltas
  }
  const options = { includeUsage: true, continuousUsage: false }
  const choices = new Map<number, Fields>()
  let usage: unknown = null
  for await (const texts of renderChunks(yieldAll(), envelopeOf(choiceCount), options)) {
    for (const json of texts) {
      const chunk = JSON.parse(json)
      usage = chunk.usage ?? usage
      for (const choice of chunk.choices) addChoice(choices, choice)
    }
  }
  return { choices: [...choices].sort(([a], [b]) => a - b).map(([, choice]) => choice), usage }
}

function addChoice(
  choices: Map<number, Fields>,
  { index, delta, logprobs, ...rest }: Fields,
): void {
  const known = choices.get(index) ?? { text: '', thought: '', calls: {}, logprobs: [], ids: [] }
  const calls = known.calls as Record<number, Fields>
  for (const { index: at, id, function: called } of delta.tool_calls ?? []) {
    const call = calls[at] ?? { id, name: called.name, arguments: '' }
    calls[at] = { ...call, arguments: `${call.arguments}${called.arguments ?? ''}` }
  }
  choices.set(index, {
    text: `${known.text}${delta.content ?? ''}`,
    thought: `${known.thought}${delta.reasoning ?? ''}`,
    calls,
    logprobs: [...(known.logprobs as unknown[]), ...(logprobs?.content ?? [])],
    ids: [...(known.ids as unknown[]), ...(rest.token_ids ?? [])],
    finish_reason: rest.finish_reason ?? known.finish_reason ?? null,
    stop_reason: rest.stop_reason ?? known.stop_reason ?? null,
  })
}

const ownPiece = fc.record({
  content: text,
  reasoning: fc.option(filled, { nil: undefined }),
  hasLogprobs: fc.boolean(),
  tokenIds: fc.option(fc.array(fc.nat(9), { minLength: 1, maxLength: 2 }), { nil: undefined }),
  call: fc.option(fc.record({ index: fc.nat(1), arguments: text }), { nil: undefined }),
})

const ownDeltas = fc
  .array(fc.array(ownPiece, { maxLength: 5 }), { minLength: 1, maxLength: 3 })
  .map((choices): readonly Delta[] => {
    const pieces = choices.flatMap((list, index) =>
      list.map(({ content, reasoning, hasLogprobs, tokenIds, call }) =>
        piece(content, {
          index,
          logprobs: hasLogprobs ? [logprob('a', -1)] : null,
          ...(reasoning === undefined ? {} : { reasoning }),
          ...(tokenIds === undefined ? {} : { tokenIds }),
          ...(call === undefined
            ? {}
            : { toolCalls: [{ ...call, id: `c${call.index}`, name: 'f' }] }),
        }),
      ),
    )
    const ends = choices.map((_, index) => finish({ index, stop_reason: 7 }))
    return [prompt(5, 2), ...pieces, ...ends]
  })

const token = fc.record({
  token: filled,
  logprob: fc.double({ min: -9, max: 0, noNaN: true }).map((value) => value || 0),
  bytes: fc.constant(null),
  top_logprobs: fc.array(fc.record({ token: filled, logprob: fc.constant(-1) }), { maxLength: 2 }),
})

const relayedChoice = fc.record({
  texts: fc.array(filled, { minLength: 1, maxLength: 5 }),
  thoughts: fc.array(filled, { maxLength: 3 }),
  calls: fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  logprobs: fc.array(token, { maxLength: 3 }),
})

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, x_more: { b: 1 } }

/** The chunks of an engine, whose last one is hidden from the client. */
const relayedStream = fc
  .array(relayedChoice, { minLength: 1, maxLength: 3 })
  .map((choices): readonly RelayedText[] => {
    const chunks = choices.flatMap(({ texts, thoughts, calls, logprobs }, index) => [
      { index, delta: { role: 'assistant', content: '' } },
      ...thoughts.map((reasoning) => ({ index, delta: { reasoning } })),
      ...texts.map((content) => ({ index, delta: { content } })),
      ...logprobs.map((one) => ({
        index,
        delta: {},
        logprobs: { content: [one] },
        token_ids: [1],
      })),
      ...calls.flatMap((parts, at) => [
        {
          index,
          delta: {
            tool_calls: [
              { index: at, id: `c${at}`, type: 'function', function: { name: 'f', arguments: '' } },
            ],
          },
        },
        ...parts.map((part) => ({
          index,
          delta: { tool_calls: [{ index: at, function: { arguments: part } }] },
        })),
      ]),
      {
        index,
        delta: {},
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        stop_reason: 'x',
      },
    ])
    const head = { id: 'up-1', object: 'chat.completion.chunk', created: 9, model: 'up' }
    const values = [
      ...chunks.map((choice) => ({
        ...head,
        choices: [{ finish_reason: null, logprobs: null, ...choice }],
      })),
      { ...head, choices: [], usage },
    ]
    return values.map((value) => ({ json: JSON.stringify(value), value }))
  })

const relay = (texts: readonly RelayedText[]): Delta[] =>
  texts.map((one) => ({ type: 'relayed', texts: [one] }))
const countOf = (texts: readonly RelayedText[]) =>
  new Set(texts.flatMap(({ value }) => (value.choices as Fields[]).map(({ index }) => index))).size

describe('a replayed completion', () => {
  it('of deltas made here is the same whole and as a stream', async () => {
    await fc.assert(
      fc.asyncProperty(ownDeltas, fc.boolean(), async (deltas, isStream) => {
        const count = deltas.filter((one) => one.type === 'choice' && one.finish_reason).length
        const stored = store(deltas, shapeOf(isStream, count))
        const replayed = replayResponse(stored, shapeOf(!isStream, count)) ?? []
        expect(collect(replayed, count)).toEqual(collect(deltas, count))
        expect(await joinChunks(replayed, count)).toEqual(await joinChunks(deltas, count))
      }),
      { numRuns: 150 },
    )
  })

  it('of an engine is as a stream what its stream was, and whole what a stream of it is', async () => {
    await fc.assert(
      fc.asyncProperty(relayedStream, async (texts) => {
        const count = countOf(texts)
        const streamed = await joinChunks(relay(texts), count)
        const stored = store(relay(texts), shapeOf(true, count))
        const again = replayResponse(stored, shapeOf(true, count)) ?? []
        expect(await joinChunks(again, count)).toEqual(streamed)

        const whole = replayResponse(stored, shapeOf(false, count)) ?? []
        const storedWhole = store(whole, shapeOf(false, count))
        const asStream = replayResponse(storedWhole, shapeOf(true, count)) ?? []
        expect(await joinChunks(asStream, count)).toEqual(streamed)
        expect(replayResponse(storedWhole, shapeOf(false, count))).toEqual(whole)
      }),
      { numRuns: 150 },
    )
  })
})
