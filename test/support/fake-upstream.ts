/** An OpenAI-compatible server over node:http whose answers a test scripts, byte by byte. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface UpstreamRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Resolves when the connection closed, with whether the answer was out by then. */
  readonly closed: Promise<{ readonly isAnswered: boolean }>
}

export type Behaviour = (response: ServerResponse, request: UpstreamRequest) => unknown

interface FakeUpstream {
  /** Ends in /v1. */
  readonly baseUrl: string
  readonly host: string
  readonly requests: UpstreamRequest[]
  /** Connections made so far. */
  connectionCount(): number
  /** What to do with requests from now on. */
  behave(behaviour: Behaviour): void
  /** Resolves with the request of that number, from 0, once it is there. */
  arrival(number: number): Promise<UpstreamRequest>
}

/**
 * Starts a server that ends with the test.
 *
 * @param secure - key and certificate of a server over TLS
 */
export async function startFakeUpstream(
  first: Behaviour = json(200, {}),
  secure: { readonly key: string; readonly cert: string } | null = null,
): Promise<FakeUpstream> {
  let behaviour = first
  const requests: UpstreamRequest[] = []
  const waiting: (() => void)[] = []
  let connections = 0
  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    const { promise: closed, resolve } = Promise.withResolvers<{ isAnswered: boolean }>()
    response.once('close', () => resolve({ isAnswered: response.writableFinished }))
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const request = { url: message.url ?? '', headers: message.headers, body, closed }
    requests.push(request)
    for (const wake of waiting.splice(0)) wake()
    await behaviour(response, request)
  }
  const server = secure ? createSecureServer(secure, serve) : createServer(serve)
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl: `${secure ? 'https' : 'http'}://${host}/v1`,
    host,
    requests,
    connectionCount: () => connections,
    behave(next) {
      behaviour = next
    },
    async arrival(number) {
      while (requests.length <= number) await new Promise<void>((resolve) => waiting.push(resolve))
      return requests[number]!
    },
  }
}

/** A whole answer; a string is sent as it is. */
export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Behaviour {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }
}

export function html(status: number): Behaviour {
  const page = '<html><body><h1>502 Bad Gateway</h1>http://10.0.0.7:8000</body></html>'
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(page)
  }
}

/** How a stream goes on after its last written piece. */
type StreamEnd = 'end' | 'cut' | 'hang'

/** A stream of pieces written one after another, then its end, a cut connection, or silence. */
export function stream(
  pieces: readonly (string | Uint8Array)[],
  end: StreamEnd = 'end',
): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const piece of pieces) await write(response, piece)
    if (end === 'end') response.end()
    if (end === 'cut') response.destroy()
  }
}

function write(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => setImmediate(resolve))
  })
}

/** Never answers. */
export const silence: Behaviour = () => {}

/** Closes the connection without an answer. */
export const reset: Behaviour = (response) => {
  response.socket?.resetAndDestroy()
}

export function event(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

export const DONE = 'data: [DONE]\n\n'

/** A chunk of an answer, as an engine prints it. */
export function chunk(choices: unknown[], more: Record<string, unknown> = {}): unknown {
  const head = { id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'up' }
  return { ...head, choices, ...more }
}

/** A stream of one choice that says hello. */
export const HELLO_EVENTS = [
  event(chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])),
  event(chunk([{ index: 0, delta: { content: 'Hello' }, finish_reason: null }])),
  event(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])),
]
