/**
 * Handles a body that is still arriving when the response is ready. The response is sent at once. Then the rest of
 * the body is read and discarded, so that it is not parsed as the connection's next request, and a client that writes
 * before it reads receives the response. Closing at once would make the system reset the connection, and a reset
 * drops what the client has not read yet.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app-type.ts'
import { declaredBytes } from './declared-bytes.ts'

/** Limits of the discarded remainder, in bytes and milliseconds. Beyond them the connection is closed. */
const READ_ON_BYTES_MAX = 268_435_456
const READ_ON_MS_MAX = 30_000
/** Limit in bytes: after a longer body, or one of unknown length, the connection is closed, which is cheaper. */
const KEEP_BYTES_MAX = 1_048_576

interface UnreadBodyOptions {
  readonly readOnBytesMax?: number
  readonly readOnMsMax?: number
}

/** Drains or closes connections whose requests were refused before the end of the body. */
export const unreadBody = fp<UnreadBodyOptions>(
  async (app: App, { readOnBytesMax = READ_ON_BYTES_MAX, readOnMsMax = READ_ON_MS_MAX }) => {
    const limits = { bytesMax: readOnBytesMax, msMax: readOnMsMax }
    app.addHook('onSend', (request, reply, payload, done) => {
      const whole = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : null
      if (whole === null || !isBodyUnderWay(request)) done(null, payload)
      else done(null, streamUntilBodyEnds(request, reply, { whole, ...limits }))
    })
  },
  { name: 'unread-body' },
)

function isBodyUnderWay({ raw }: FastifyRequest): boolean {
  // Injected requests have no socket.
  if (raw.complete !== false || raw.method === 'HEAD') return false
  return raw.headers['transfer-encoding'] !== undefined || declaredBytes(raw.headers) > 0
}

interface StreamLimits {
  readonly whole: string | Buffer
  readonly bytesMax: number
  readonly msMax: number
}

/**
 * Returns the response as a stream that holds all bytes at once, and ends when the body ends or a limit is reached.
 */
function streamUntilBodyEnds(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { whole, bytesMax, msMax }: StreamLimits,
): Readable {
  const staysOpen =
    raw.headers['transfer-encoding'] === undefined && declaredBytes(raw.headers) <= KEEP_BYTES_MAX
  if (!staysOpen) reply.header('connection', 'close')
  reply.header('content-length', Buffer.byteLength(whole))
  const stream = new Readable({ read: () => undefined })
  stream.push(whole)
  let bytes = 0
  const onData = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) giveUp()
  }
  const end = () => {
    clearTimeout(timer)
    raw.off('data', onData)
    stream.push(null)
  }
  const giveUp = () => {
    closeAfter(reply.raw, raw)
    end()
  }
  const timer = setTimeout(giveUp, msMax)
  stream.once('close', () => clearTimeout(timer))
  raw.once('end', end)
  raw.once('close', end)
  // The body may still be piped to the reader that refused it.
  raw.unpipe()
  raw.on('data', onData)
  raw.resume()
  return stream
}

/** Closes the connection after the response: the rest of the body would be parsed as the next request. */
function closeAfter(response: ServerResponse, request: IncomingMessage): void {
  response.once('finish', () => request.socket.destroySoon())
}
