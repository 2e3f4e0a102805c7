import {
  brotliCompressSync,
  createGzip,
  deflateSync,
  gzipSync,
  constants as zlib,
  zstdCompressSync,
} from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
} from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer, upstreamModel } from '../../support/model-server.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'é😀' }, finish_reason: 'stop' }],
}
const CODINGS: [string, (bytes: Uint8Array) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['Deflate, GZIP', (bytes) => gzipSync(deflateSync(bytes))],
]

/** Answers bytes in pieces of one size. */
function send(
  bytes: Uint8Array,
  headers: Record<string, string>,
  { size = bytes.length, status = 200, isCut = false } = {},
): Behaviour {
  return async (response) => {
    response.writeHead(status, headers)
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve))
    }
    if (isCut) response.destroy()
    else response.end()
  }
}

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  return { ...(await startModelServer(upstreamModel(upstream.baseUrl))), upstream }
}

const asStream = (coding: string) => ({
  'content-type': 'text/event-stream',
  'content-encoding': coding,
})
const asJson = (coding: string) => ({
  'content-type': 'application/json',
  'content-encoding': coding,
})

describe('an upstream that compresses unasked', () => {
  it('a compressed listing of upstream models is read', async () => {
    const models = { data: [{ id: 'org/relayed', max_model_len: 4096 }] }
    const bytes = gzipSync(JSON.stringify(models))
    const { deps } = await start(send(bytes, asJson('gzip')))
    const find = () => deps.models.getEntry('org/relayed')
    await expect.poll(find).toMatchObject({ max_model_len: 4096 })
  })

  it('no compression is requested from an upstream', async () => {
    const { chat, upstream } = await start(json(200, ANSWER))
    await chat({ messages: MESSAGES })
    expect(upstream.requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  it.each(CODINGS)(
    'an upstream response with %s is decompressed, and the connection reused',
    async (coding, encode) => {
      const bytes = encode(Buffer.from(JSON.stringify(ANSWER)))
      const { chat, upstream } = await start(send(bytes, asJson(coding)))
      for (let at = 0; at < 2; at++) {
        const response = await chat({ messages: MESSAGES })
        expect([response.status, await response.text()]).toEqual([200, JSON.stringify(ANSWER)])
        expect(response.headers.has('content-encoding')).toBe(false)
      }
      expect(upstream.connectionCount()).toBe(1)
    },
  )

  it.each(CODINGS)('a response with %s in single bytes is streamed', async (coding, encode) => {
    const text = [...HELLO_EVENTS, DONE].join('')
    const { chat } = await start(send(encode(Buffer.from(text)), asStream(coding), { size: 1 }))
    const response = await chat({ messages: MESSAGES, stream: true })
    expect([response.status, await response.text()]).toEqual([200, text])
  })

  it('a compressed stream is relayed as it flushes', async () => {
    const { promise: seen, resolve: noteSeen } = Promise.withResolvers<void>()
    const { chat } = await start(async (response) => {
      response.writeHead(200, asStream('gzip'))
      const gzip = createGzip()
      gzip.pipe(response)
      gzip.write(HELLO_EVENTS.slice(0, 2).join(''))
      gzip.flush(zlib.Z_SYNC_FLUSH)
      await seen
      gzip.end(`${HELLO_EVENTS[2]}${DONE}`)
    })
    const response = await chat({ messages: MESSAGES, stream: true })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('Hello')) text += (await reader.read()).value
    noteSeen()
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    expect(eventsOf(text).at(-1)).toBe('[DONE]')
  })

  it('compressed error bodies of an upstream are decompressed', async () => {
    const error = { message: 'top_k is odd', param: 'top_k' }
    const bytes = gzipSync(JSON.stringify({ error }))
    const { chat } = await start(send(bytes, asJson('gzip'), { status: 400 }))
    const response = await chat({ messages: MESSAGES })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { ...error, code: 'invalid_value' } })
  })

  it('a compressed stream that breaks off after two events ends in an error event', async () => {
    const bytes = gzipSync(HELLO_EVENTS.slice(0, 2).join(''))
    const { chat } = await start(send(bytes, asStream('gzip'), { isCut: true }))
    const text = await (await chat({ messages: MESSAGES, stream: true })).text()
    const events = eventsOf(text)
    expect(JSON.parse(events.at(-2)!)).toMatchObject({ error: { code: 'upstream_error' } })
    expect(events).toHaveLength(4)
  })

  it.each(CODINGS)(
    'a response with %s that ends early is broken, not complete',
    async (coding, encode) => {
      const whole = encode(Buffer.from(JSON.stringify(ANSWER)))
      const { chat } = await start(send(whole.subarray(0, -30), asJson(coding)))
      const response = await chat({ messages: MESSAGES })
      expect([response.status, await response.json()]).toMatchObject([
        502,
        { error: { code: 'upstream_invalid_response' } },
      ])
    },
  )

  it('a wrong content encoding of an upstream is reported', async () => {
    const { chat } = await start(send(Buffer.from(HELLO_EVENTS.join('')), asStream('br')))
    const response = await chat({ messages: MESSAGES, stream: true })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_invalid_response' } })
  })

  it('a small response cannot decompress beyond the memory limit', async () => {
    // 100 MB of spaces in a hundred kilobytes.
    const bomb = gzipSync(Buffer.alloc(100_000_000, ' '))
    const { chat, upstream } = await start(send(bomb, asJson('gzip')))
    const response = await chat({ messages: MESSAGES })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_invalid_response' } })
    await upstream.requests[0]?.closed
  })

  it('one large compressed event is relayed', async () => {
    const big = JSON.stringify(chunk([{ index: 0, delta: { content: 'x'.repeat(10_000_000) } }]))
    const { chat } = await start(send(gzipSync(event(big) + DONE), asStream('gzip')))
    const text = await (await chat({ messages: MESSAGES, stream: true })).text()
    expect(eventsOf(text)).toEqual([big, '[DONE]'])
  })
})
