import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LINE_BYTES_MAX } from '../../../src/inference/openai/response-body.ts'
import type { AnswerHead } from '../../../src/inference/openai/response-head.ts'
import {
  createResponseReader,
  HEAD_BYTES_MAX,
} from '../../../src/inference/openai/response-reader.ts'

/** Reads an answer that comes in the given pieces and then ends. */
function read(pieces: readonly Buffer[]) {
  const heads: AnswerHead[] = []
  const body: Uint8Array[] = []
  let ends = 0
  const reader = createResponseReader({
    onHead: (head) => void heads.push(head),
    onPiece: (piece) => void body.push(piece),
    onEnd() {
      ends += 1
    },
  })
  let taken = 0
  for (const piece of pieces) taken += reader.push(piece)
  const isWhole = reader.finish()
  const headers = Object.fromEntries(heads[0]?.headers ?? [])
  const told = { heads: heads.length, status: heads[0]?.status, headers, taken, isWhole, ends }
  return { ...told, body: Buffer.concat(body), reusableS: reader.reusableS() }
}

const bytes = (text: string) => Buffer.from(text, 'latin1')
const readText = (text: string) => read([bytes(text)])

/** Cuts bytes at any places. */
function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length]
  let from = 0
  const pieces: Buffer[] = []
  for (const end of ends.sort((left, right) => left - right)) {
    if (end > from) pieces.push(whole.subarray(from, end))
    from = end
  }
  return pieces
}

const content = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 })
const interim = fc.constantFrom(
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 X\r\na: b\r\n\r\n',
)
const kind = fc.constantFrom('counted', 'chunked', 'endless')

function render(kindOfBody: string, pieces: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(pieces)
  if (kindOfBody === 'endless') return Buffer.concat([bytes('HTTP/1.1 200 OK\r\n\r\n'), body])
  if (kindOfBody === 'counted') {
    return Buffer.concat([bytes(`HTTP/1.1 200\r\nContent-Length: ${body.length}\r\n\r\n`), body])
  }
  const chunks = pieces.flatMap((piece) => [
    bytes(`${piece.length.toString(16)};x=1\r\n`),
    piece,
    bytes('\r\n'),
  ])
  const head = bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n')
  return Buffer.concat([head, ...chunks, bytes('0\r\nt: 1\r\n\r\n')])
}

describe('createResponseReader', () => {
  it('gives the same body wherever the bytes are cut', () => {
    const places = fc.array(fc.nat(), { maxLength: 12 })
    fc.assert(
      fc.property(kind, content, interim, places, (kindOfBody, pieces, before, cuts) => {
        const whole = Buffer.concat([bytes(before), render(kindOfBody, pieces)])
        for (const way of [cut(whole, cuts), cut(whole, [...whole.keys()])]) {
          expect(read(way)).toMatchObject({
            ...{ heads: 1, status: 200, taken: whole.length, isWhole: true, ends: 1 },
            body: Buffer.concat(pieces),
          })
        }
      }),
      { numRuns: 150 },
    )
  })

  it('is never whole when the end is missing', () => {
    fc.assert(
      fc.property(fc.constantFrom('counted', 'chunked'), content, fc.nat(), (how, pieces, at) => {
        const whole = render(how, pieces)
        const { isWhole, ends } = read([whole.subarray(0, at % whole.length)])
        expect([isWhole, ends]).toEqual([false, 0])
      }),
    )
  })

  it('leaves what comes behind an answer', () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    expect(readText(`${answer}HTTP/1.1 200`)).toMatchObject({ taken: answer.length, isWhole: true })
    expect(readText('HTTP/1.1 204 No\r\n\r\nxx')).toMatchObject({ body: bytes(''), isWhole: true })
  })

  it('joins headers of the same name and trims their values', () => {
    const { headers } = readText('HTTP/1.1 200 \r\nA:  1 \t\r\nb:\r\na: 2\r\n\r\n')
    expect(headers).toEqual({ a: '1, 2', b: '' })
  })

  it.each([
    ['no HTTP', '<html>\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 X\r\nupgrade: x\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nabc\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\na : b\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n'],
    ['a bare line feed', 'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n'],
    ['a NUL', 'HTTP/1.1 200 OK\r\na: b\0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    [
      'a length and chunks',
      'HTTP/1.1 200\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['another transfer coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['another protocol before its line ends', 'SSH-2.0-'],
    ['a line that ends in a bare line feed before its head ends', 'HTTP/1.1 200 OK\na: b\n\n'],
    ['a large head', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(HEAD_BYTES_MAX)}`],
  ])('refuses %s', (_name, text) => {
    const error = { code: 'upstream_invalid_response' }
    expect(() => readText(text)).toThrow(expect.objectContaining(error))
  })

  it.each([
    ['no size', 'x\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size beyond all bounds', 'ffffffffffffff\r\n'],
    ['a bare line feed', '1\nx'],
    ['more than it said', '1\r\nab'.padEnd(12, '\r\n')],
    ['a long extension', `1;${'x'.repeat(LINE_BYTES_MAX)}`],
    ['trailers without end', `0\r\n${'a: b\r\n'.repeat(LINE_BYTES_MAX)}`],
    ['a broken trailer', '0\r\nabc\r\n'],
  ])('refuses a chunk with %s', (_name, text) => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    const error = { code: 'upstream_invalid_response' }
    expect(() => readText(head + text)).toThrow(expect.objectContaining(error))
  })

  it.each([
    ['HTTP/1.1 200 OK\r\ncontent-length: 0', null],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nkeep-alive: timeout=5, max=9', 5],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive, Close', 0],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0', 0],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive', null],
    ['HTTP/1.1 204 No', null],
    ['HTTP/1.1 200 OK', 0],
  ])('tells of %j how long its connection may be used, %s', (head, seconds) => {
    expect(readText(`${head}\r\n\r\n`).reusableS).toBe(seconds)
  })
})
