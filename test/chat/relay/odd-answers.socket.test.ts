import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createUpstreamClient, readBytes } from '../../../src/inference/openai/upstream/client.ts'
import { TIMEOUT_MS } from '../../support/model-server.ts'

/** A server that gives every request the same bytes in the same pieces; a cut one closes, another keeps open. */
async function startServer() {
  let pieces: readonly Buffer[] = []
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => {}).setEncoding('latin1')
    socket.setNoDelay(true).on('data', async (piece) => {
      text += piece
      if (!text.endsWith('\r\n\r\n{}')) return
      for (const answer of pieces) {
        socket.write(answer)
        await new Promise(setImmediate)
      }
      socket.end()
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    answer(next: readonly Buffer[]) {
      pieces = next
    },
  }
}

interface Seen {
  readonly status: number
  readonly body: string
}

/** What Node's own client makes of the answer; null for none, or for one that is broken. */
function askWithNode(port: number): Promise<Seen | null> {
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', agent: false }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece)).on('error', () => resolve(null))
      answer.on('end', () => {
        const body = Buffer.concat(pieces).toString('latin1')
        resolve({ status: answer.statusCode ?? 0, body })
      })
    })
    sent.on('error', () => resolve(null)).on('close', () => resolve(null))
    sent.setHeader('content-length', 2)
    sent.end('{}')
  })
}

/** What the relay makes of it. */
async function askWithRelay(port: number): Promise<Seen | null> {
  const baseUrl = `http://127.0.0.1:${port}`
  const client = createUpstreamClient({ baseUrl, apiKey: null, timeoutMs: TIMEOUT_MS })
  const { signal } = new AbortController()
  try {
    const answer = await client.post('{}', {
      path: '/chat/completions',
      requestId: 'r',
      signal,
      isStream: true,
    })
    const { bytes } = await readBytes(answer, 1_000_000)
    return { status: answer.status, body: Buffer.from(bytes).toString('latin1') }
  } catch {
    return null
  } finally {
    await client.close()
  }
}

const bytes = (text: string) => Buffer.from(text, 'latin1')

function render(kind: string, content: readonly Uint8Array[], interim: string): Buffer {
  const body = Buffer.concat(content)
  if (kind === 'endless') return Buffer.concat([bytes(`${interim}HTTP/1.1 200 OK\r\n\r\n`), body])
  if (kind === 'counted') {
    const head = `${interim}HTTP/1.1 429 X\r\nContent-Length: ${body.length}\r\n\r\n`
    return Buffer.concat([bytes(head), body])
  }
  const chunks = content.flatMap((piece) => [
    bytes(`${piece.length.toString(16)};x=1\r\n`),
    piece,
    bytes('\r\n'),
  ])
  const head = `${interim}HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n`
  return Buffer.concat([bytes(head), ...chunks, bytes('0\r\ntrailer: x\r\n\r\n')])
}

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

const kind = fc.constantFrom('counted', 'chunked', 'endless')
const content = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 })
const interim = fc.constantFrom(
  '',
  'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
)
const places = fc.array(fc.nat(400), { maxLength: 6 })

describe('an answer of an upstream', () => {
  it('is read as the client of Node reads it, however it is framed, split or cut off', async () => {
    const server = await startServer()
    await fc.assert(
      fc.asyncProperty(kind, content, interim, places, fc.nat(600), async (...given) => {
        const [framing, pieces, before, cuts, length] = given
        const whole = render(framing, pieces, before)
        server.answer(cut(whole.subarray(0, length), cuts))
        expect(await askWithRelay(server.port)).toEqual(await askWithNode(server.port))
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\nx'],
    ['two counts', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy'],
    ['a count that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\nx'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    [
      'a chunk of another length',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxy\r\n',
    ],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['a head that is too large', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a switch of protocols', 'HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['nothing', ''],
  ])('with %s is refused, as by another client', async (_name, text) => {
    const server = await startServer()
    server.answer([bytes(text)])
    expect(await askWithNode(server.port)).toBeNull()
    expect(await askWithRelay(server.port)).toBeNull()
  })

  it.each([
    ['lines that end in LF alone', 'HTTP/1.1 200 OK\ncontent-length: 1\n\nx'],
    ['no reason', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx'],
    ['more behind its end', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n'],
    ['no body', 'HTTP/1.1 204 No\r\n\r\n'],
  ])('with %s is read as by another client', async (_name, text) => {
    const server = await startServer()
    server.answer([bytes(text)])
    expect(await askWithRelay(server.port)).toEqual(await askWithNode(server.port))
  })
})
