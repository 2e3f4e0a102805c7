import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'

const MESSAGES = [{ role: 'user' as const, content: 'hi' }]
const REQUEST = { model: 'org/relayed', messages: MESSAGES }
const ANSWER = {
  id: 'up',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  return { ...server, upstream }
}

describe('an upstream with odd manners', () => {
  it.each([
    ['a whole answer', false, json(200, { id: 'nobody asked' }), 502],
    ['a stream', true, stream(['data: nonsense\n\n', DONE]), 502],
    ['a stream that has begun', true, stream([HELLO_EVENTS[0] ?? '', 'data: x\n\n', DONE]), 200],
  ])(
    'gets no request again on the connection of nonsense in %s',
    async (_name, isStream, nonsense, status) => {
      let isFirst = true
      const { chat, upstream } = await start((response, request) => {
        const behaviour = isFirst ? nonsense : json(200, ANSWER)
        isFirst = false
        return behaviour(response, request)
      })
      const broken = await chat({ ...REQUEST, stream: isStream })
      expect(broken.status).toBe(status)
      expect(await broken.text()).toContain('"error"')
      expect(await (await chat(REQUEST)).json()).toEqual(ANSWER)
      expect(upstream.connectionCount()).toBe(2)
    },
  )

  it('may send early hints before its answer', async () => {
    const { chat } = await start((response, request) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      return json(200, ANSWER)(response, request)
    })
    const response = await chat(REQUEST)
    expect([response.status, await response.json()]).toEqual([200, ANSWER])
  })

  it('is refused with 100 Continue, for which nobody asked, and gets the request once', async () => {
    const { chat, upstream } = await start((response) => {
      response.writeContinue()
      return json(200, ANSWER)(response, upstream.requests[0] as never)
    })
    const response = await chat(REQUEST)
    expect(response.status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })

  it('may send an interim answer in any pieces, and an answer that looks like one in its body', async () => {
    const body = JSON.stringify({ ...ANSWER, id: 'HTTP/1.1 100 Continue' })
    const text =
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\nx: y\r\n\r\n' +
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const { chat } = await start(async (response) => {
      for (const character of text) {
        response.socket?.write(character)
        await new Promise(setImmediate)
      }
    })
    const response = await chat(REQUEST)
    expect([response.status, await response.text()]).toEqual([200, body])
  })

  it('may name its media type twice, and end its answer with the connection', async () => {
    const type = 'content-type: text/event-stream; charset=utf-8\r\n'
    const body = [...HELLO_EVENTS, DONE].join('')
    const { chat } = await start((response) => {
      response.socket?.end(`HTTP/1.0 200 OK\r\n${type}${type}\r\n${body}`)
    })
    const response = await chat({ ...REQUEST, stream: true })
    expect([response.status, await response.text()]).toEqual([200, body])
  })

  it('may leave the usage out of a stream: the call is recorded with an estimate of it', async () => {
    const { chat, deps } = await start(stream([...HELLO_EVENTS, DONE]))
    const headers = { 'Compat-Project': 'acme/demo' }
    const response = await chat({ ...REQUEST, stream: true }, { headers })
    expect(await response.text()).toBe([...HELLO_EVENTS, DONE].join(''))
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => deps.calls.findCall('acme/demo', id)).not.toBeNull()
    const call = await deps.calls.findCall('acme/demo', id)
    const estimate = { completion_tokens: 1, total_tokens: 1 }
    expect(call?.summary.usage).toEqual({ 'org/relayed': estimate })
    expect(call?.attributes).toMatchObject({ usage_estimated: true })
    expect(call?.output).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
  })
})

describe('a client with odd manners', () => {
  it('may wait for 100 Continue before it sends its body', async () => {
    const { baseUrl, key } = await start(json(200, ANSWER))
    const body = JSON.stringify(REQUEST)
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
    socket.setEncoding('utf8')
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n` +
        'expect: 100-continue\r\nconnection: close\r\n\r\n',
    )
    let text = ''
    for await (const piece of socket) {
      if (text === '') socket.write(body)
      text += piece
    }
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    expect(text).toContain(JSON.stringify(ANSWER))
  })
})

describe('an upstream that cannot be connected to in time', () => {
  it('is tried again and then given up', async () => {
    let connectionCount = 0
    let greeting = ''
    // Takes connections and never answers the greeting of TLS.
    const silent = createServer((socket) => {
      connectionCount += 1
      socket.setEncoding('latin1').on('error', () => {})
      socket.on('data', (text) => {
        greeting += text
      })
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo
    const models = upstreamModel(`https://127.0.0.1:${port}/v1`, { timeoutMs: { connect: 200 } })
    const { chat } = await startModelServer(models)
    const response = await chat(REQUEST)
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([504, 'false'])
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_timeout' } })
    expect(connectionCount).toBe(3)
    // What protocols were offered.
    expect(greeting).toContain('\u0008http/1.1')
    expect(greeting).not.toContain('\u0002h2')
  })
})

describe('events of an upstream', () => {
  it('that come together leave together, each as it came', async () => {
    const pieces = Array.from({ length: 30 }, (_, at) =>
      event(chunk([{ index: 0, delta: { content: `é${at}` } }])),
    )
    // Each is a chunk of its own, in one write.
    const sent = [...pieces, DONE]
    const { baseUrl, key } = await start((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.cork()
      for (const piece of sent) response.write(piece)
      response.uncork()
      response.end()
    })
    const body = JSON.stringify({ ...REQUEST, stream: true })
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const bytes = Buffer.concat(await socket.toArray())
    const chunks = readChunks(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4))
    expect(chunks.join('')).toBe(sent.join(''))
    expect(chunks.length).toBeLessThan(sent.length / 2)
  })
})

/** The chunks of a body. */
function readChunks(body: Buffer): string[] {
  const chunks: string[] = []
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16)
    if (size === 0) break
    chunks.push(body.toString('utf8', lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return chunks
}

describe('a slow reader', () => {
  it('slows the upstream down', async () => {
    const data = event(chunk([{ index: 0, delta: { content: 'x'.repeat(100_000) } }]))
    let sentCount = 0
    const { baseUrl, key, upstream } = await start(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      while (sentCount < 1_000 && !response.destroyed) {
        const isTaken = response.write(data)
        sentCount += 1
        if (!isTaken) await new Promise((resolve) => response.once('drain', resolve))
      }
    })
    const body = JSON.stringify({ ...REQUEST, stream: true })
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    socket.pause()
    const { closed } = await upstream.arrival(0)
    // The count stops once all buffers are full, long before 100 MB.
    let last = -1
    while (sentCount !== last || last < 1) {
      last = sentCount
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect(last).toBeLessThan(500)
    socket.destroy()
    expect(await closed).toEqual({ isAnswered: false })
  })
})
