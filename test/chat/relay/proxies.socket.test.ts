import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Behaviour,
  DONE,
  HELLO_EVENTS,
  json,
  silence,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../../support/localhost-certificate.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }

/** A proxy that sends everything to one port, and so resolves names that do not exist. */
async function startProxy(port: number, { status = 200 } = {}) {
  const seen: { readonly what: string; readonly credentials: string | undefined }[] = []
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push({ what: `${method} ${url}`, credentials: headers['proxy-authorization'] })

  const server = createServer((message: IncomingMessage, response: ServerResponse) => {
    note(message)
    const { method, headers } = message
    const { pathname, search } = new URL(message.url ?? '')
    const path = pathname + search
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    message.pipe(onward)
  })
  server.on('connect', (message: IncomingMessage, socket: Socket) => {
    note(message)
    if (status === 0) return
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
      return
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy())
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return { address: `http://me:word@127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

interface Case {
  readonly isSecure: boolean
  readonly except?: string
  /** Status of answers to CONNECT; 0 for no answer. */
  readonly status?: number
  readonly connectMs?: number
}

/** A relay to a name that only the proxy knows. */
async function start(behaviour: Behaviour, options: Case) {
  const { isSecure, except = '', status = 200, connectMs = 2_000 } = options
  const secure = isSecure ? { key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE } : null
  const upstream = await startFakeUpstream(behaviour, secure)
  const port = Number(new URL(upstream.baseUrl).port)
  const proxy = await startProxy(port, { status })
  const address = proxy.address
  // The certificate is good for localhost only; other names are of .invalid, which nobody resolves.
  const host = isSecure ? 'localhost' : 'upstream.invalid'
  const baseUrl = `${isSecure ? 'https' : 'http'}://${host}:${port}/v1`
  const proxies = isSecure
    ? { http: '', https: address, except }
    : { http: address, https: '', except }
  const ca = isSecure ? LOCALHOST_CERTIFICATE : null
  const server = await startModelServer(
    upstreamModel(baseUrl, { proxies, ca, apiKey: 'k', timeoutMs: { connect: connectMs } }),
  )
  return { ...server, upstream, proxy, port }
}

const CREDENTIALS = `Basic ${Buffer.from('me:word').toString('base64')}`

describe.each([false, true])('an upstream behind a proxy, https %s', (isSecure) => {
  it('is asked through HTTP_PROXY or HTTPS_PROXY, by its scheme', async () => {
    const { chat, upstream, proxy, port } = await start(json(200, ANSWER), { isSecure })
    const response = await chat({ messages: MESSAGES })
    expect([response.status, await response.json()]).toEqual([200, ANSWER])
    const what = isSecure
      ? `CONNECT localhost:${port}`
      : `POST http://upstream.invalid:${port}/v1/chat/completions`
    expect(proxy.seen).toEqual([{ what, credentials: CREDENTIALS }])
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k' })
  })

  it('keeps its connection, and streams as it comes', async () => {
    const { chat, upstream } = await start(stream([...HELLO_EVENTS, DONE]), { isSecure })
    for (let at = 0; at < 3; at++) {
      const text = await (await chat({ messages: MESSAGES, stream: true })).text()
      expect(text).toBe([...HELLO_EVENTS, DONE].join(''))
    }
    if (isSecure) expect(upstream.connectionCount()).toBe(1)
    expect(upstream.requests).toHaveLength(3)
  })

  it('is cut when the client leaves', async () => {
    const { chat, upstream } = await start(silence, { isSecure })
    const leave = new AbortController()
    const answer = chat({ messages: MESSAGES }, { signal: leave.signal })
    const { closed } = await upstream.arrival(0)
    leave.abort()
    await expect(answer).rejects.toThrow()
    expect(await closed).toEqual({ isAnswered: false })
  })

  it('gets what it worked on and then reset exactly once', async () => {
    const { chat, upstream } = await start((response) => response.destroy(), { isSecure })
    expect((await chat({ messages: MESSAGES })).status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })

  it.each(['*', 'localhost,.invalid'])('is asked directly where NO_PROXY is %s', async (except) => {
    const { chat, proxy } = await start(json(200, ANSWER), { isSecure, except })
    // Nobody but the proxy knows the name.
    expect((await chat({ messages: MESSAGES })).status).toBe(isSecure ? 200 : 502)
    expect(proxy.seen).toEqual([])
  })
})

describe('a proxy that does not let through', () => {
  it.each([403, 407, 502])(
    'with %i makes its upstream unreachable, and names no address',
    async (status) => {
      const { chat, upstream } = await start(json(200, ANSWER), { isSecure: true, status })
      const response = await chat({ messages: MESSAGES })
      const text = await response.text()
      expect([response.status, JSON.parse(text).error.code]).toEqual([502, 'upstream_unreachable'])
      expect(text).not.toMatch(/127\.0\.0\.1|localhost|word/)
      expect(upstream.requests).toEqual([])
    },
  )

  it('and never answers is given up after the connect timeout', async () => {
    const { chat } = await start(json(200, ANSWER), { isSecure: true, status: 0, connectMs: 100 })
    const response = await chat({ messages: MESSAGES })
    expect([response.status, await response.json()]).toMatchObject([
      504,
      { error: { code: 'upstream_timeout' } },
    ])
  })
})
