import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseDecoder } from '../../../src/inference/openai/sse-decoder.ts'
import { codePoint } from '../../support/code-point.ts'

const encoder = new TextEncoder()

function decode(bytes: Uint8Array, cuts: readonly number[] = []): string[] {
  const decoder = createSseDecoder()
  const edges = [0, ...[...cuts].sort((left, right) => left - right), bytes.length]
  return edges.slice(1).flatMap((end, at) => decoder.push(bytes.subarray(edges[at], end)))
}

const CASES: [string, string, string[]][] = [
  ['LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
  ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\n\r', ['a', 'b', 'c']],
  ['a byte order mark', '\uFEFFdata: a\n\n', ['a']],
  ['comments', ': ping\n\n: ping\ndata: a\n: pong\n\n', ['a']],
  ['other fields', 'event: x\nid: 7\nretry: 1\ndata: a\n\n', ['a']],
  ['no space after the colon', 'data:a\n\n', ['a']],
  ['two spaces after the colon', 'data:  a\n\n', [' a']],
  ['several data lines', 'data: a\ndata: b\n\n', ['a\nb']],
  ['data without a colon', 'data\ndata\n\n', ['\n']],
  ['a field whose name begins with data', 'database: a\n\n', []],
  ['text of many bytes', 'data: é€😀\n\n', ['é€😀']],
  ['an end without a blank line', 'data: a\n\ndata: [DO', ['a']],
  ['empty blocks', '\n\n\n\r\n\r\ndata: a\n\n', ['a']],
]

describe('createSseDecoder', () => {
  it.each(CASES)('decodes %s', (_name, text, events) => {
    expect(decode(encoder.encode(text))).toEqual(events)
  })

  it.each(CASES)('decodes %s byte by byte', (_name, text, events) => {
    const bytes = encoder.encode(text)
    expect(decode(bytes, [...bytes.keys()])).toEqual(events)
  })

  it('every split of the bytes yields the same events', () => {
    const line = fc.oneof(
      fc.constantFrom(
        'data: {"a":1}',
        'data:x',
        'data',
        ': c',
        'event: e',
        '',
        '\uFEFF',
        'data: é😀',
      ),
      fc.string().map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    )
    const end = fc.constantFrom('\n', '\r', '\r\n', '\n\n')
    const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (stream, seeds) => {
        const bytes = encoder.encode(stream)
        const cuts = seeds.map((seed) => seed % (bytes.length + 1))
        expect(decode(bytes, cuts)).toEqual(decode(bytes))
      }),
    )
  })

  it('written events are decoded unchanged, whatever their texts contain', () => {
    const events = fc.array(fc.string({ unit: codePoint }).filter((text) => !/[\r\n]/.test(text)))
    fc.assert(
      fc.property(events, (texts) => {
        const known = texts.map((text) => new TextDecoder().decode(encoder.encode(text)))
        const stream = texts.map((text) => `data: ${text}\n\n`).join('')
        expect(decode(encoder.encode(stream))).toEqual(known)
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    ['one endless line', ['data: ', 'x'.repeat(60), 'x'.repeat(60)]],
    ['endless data lines', ['data: x\n'.repeat(30)]],
    ['endless comments', [': x\n'.repeat(60)]],
  ])('%s beyond the limit is refused', (_name, pieces) => {
    const decoder = createSseDecoder({ charsMax: 100 })
    expect(() => pieces.map((piece) => decoder.push(encoder.encode(piece)))).toThrow(
      expect.objectContaining({ code: 'upstream_invalid_response' }),
    )
  })

  it('the limit counts each event separately', () => {
    const decoder = createSseDecoder({ charsMax: 100 })
    const event = encoder.encode(`data: ${'x'.repeat(80)}\n\n`)
    expect([event, event, event].flatMap((piece) => decoder.push(piece))).toHaveLength(3)
  })
})
