import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createChunkRules } from '../../../src/inference/openai/event-rules.ts'
import { createEventReader } from '../../../src/inference/openai/response-body.ts'
import type { UpstreamResponse } from '../../../src/inference/openai/upstream/client.ts'
import { createRedact } from '../../../src/inference/openai/upstream/redaction.ts'

const REDACT = createRedact(new URL('http://up:1/v1'), null)
const REQUEST = {}

/** An answer whose pieces come in groups; each group is there at once or has to be waited for. */
function answerOf(groups: readonly (readonly Uint8Array[])[], isWaitedFor: boolean[] = []) {
  let at = 0
  const answer: Partial<UpstreamResponse> = {
    mediaType: () => 'text/event-stream',
    read() {
      const pieces = groups[at] ?? null
      return isWaitedFor[at++] ? Promise.resolve(pieces) : pieces
    },
  }
  return answer as UpstreamResponse
}

const encode = (text: string) => new TextEncoder().encode(text)
const piece = (index: number) => `{"choices":[{"index":0,"delta":{"content":"é${index}"}}]}`
const END = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
const event = (json: string) => `data: ${json}\n\n`

/** What a reader gives until it ends, and how it ends. */
async function readAll(answer: UpstreamResponse) {
  const reader = createEventReader(answer, REDACT, createChunkRules(REQUEST, REDACT))
  const groups: string[][] = []
  try {
    for (let texts = await reader.next(); texts !== null; texts = await reader.next()) {
      groups.push(texts.map(({ json }) => json))
    }
    return { groups, code: null }
  } catch (error) {
    return { groups, code: (error as { code: string }).code }
  }
}

/** How a stream may end, and as what. */
const ENDINGS = [
  { name: 'whole', text: event(END) + event('[DONE]'), more: [END], code: null },
  { name: 'behind [DONE]', text: `${event('[DONE]')}data: x\n\n`, more: [], code: null },
  { name: 'without [DONE]', text: event(END), more: [END], code: null },
  { name: 'cut', text: 'data: {"choi', more: [], code: 'upstream_error' },
  { name: 'nonsense', text: event('x'), more: [], code: 'upstream_invalid_response' },
  { name: 'error', text: event('{"error":{}}'), more: [], code: 'upstream_error' },
]

describe('the events of a streamed answer', () => {
  it('events are the same however their bytes are split, and all before a fault are delivered first', async () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 12 })
    const waits = fc.array(fc.boolean(), { maxLength: 12 })
    const count = fc.integer({ min: 1, max: 5 })
    await fc.assert(
      fc.asyncProperty(count, fc.constantFrom(...ENDINGS), cuts, cuts, waits, async (...given) => {
        const [eventCount, ending, pieceCuts, groupCuts, isWaitedFor] = given
        const jsons = Array.from({ length: eventCount }, (_, index) => piece(index))
        const bytes = encode(jsons.map(event).join('') + ending.text)
        const pieces = split(bytes, pieceCuts, (from, to) => bytes.subarray(from, to))
        const groups = split(pieces, groupCuts, (from, to) => pieces.slice(from, to))
        const { groups: read, code } = await readAll(answerOf(groups, isWaitedFor))
        expect(read.flat()).toEqual([...jsons, ...ending.more])
        expect(read.every((group) => group.length > 0)).toBe(true)
        expect(code).toBe(ending.code)
      }),
    )
  })

  it.each([
    'data:\n\n',
    'data\n\n',
    'data: \t \n\n',
    ': hi\n\n',
    'event: ping\n\n',
    'id: 1\nretry: 9\n\n',
    'event: ping\ndata:\n\n',
    'data:\ndata:\n\n',
  ])('the keep-alive frame %j is dropped, at any position', async (frame) => {
    const stream = [piece(0), piece(1), END, '[DONE]'].map((json) => frame + event(json)).join('')
    const { groups, code } = await readAll(answerOf([[encode(stream + frame)]]))
    expect([groups.flat(), code]).toEqual([[piece(0), piece(1), END], null])
  })

  it('events that arrive together are delivered together', async () => {
    const groups = [
      [encode(event(piece(0)) + event(piece(1))), encode(`${event(piece(2))}data: `)],
      [encode(`${END}\n\n${event('[DONE]')}`)],
    ]
    const { groups: read } = await readAll(answerOf(groups))
    expect(read).toEqual([[piece(0), piece(1), piece(2)], [END]])
  })
})

/** Cuts a list at positions, taken modulo its length; no part is empty. */
function split<T>(
  list: { readonly length: number },
  cuts: readonly number[],
  take: (from: number, to: number) => T,
): T[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % list.length), list.length])]
  const sorted = places.sort((left, right) => left - right)
  return sorted.slice(1).map((to, index) => take(sorted[index] as number, to))
}
