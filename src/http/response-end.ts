/**
 * Reports the end of each response. Fastify's onResponse hook leaves out responses whose client disconnected before
 * the end.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ERRORS, type ErrorCode } from '../errors.ts'
import type { App } from './app-type.ts'

interface ResponseEnd {
  /** The `x-request-id` of the response. */
  readonly requestId: string
  /** Status of the response; 499 when the client disconnected before the response began. */
  readonly status: number
  readonly refusal: ErrorCode | null
  /** Field at fault; null for none, and for an error message of an upstream. */
  readonly param: string | null
  /** Whether the connection closed before the end of the response. */
  readonly isCut: boolean
  /** Time since the head of the request. */
  readonly durationMs: number
}

type ResponseEndListener = (request: FastifyRequest, end: ResponseEnd) => void

declare module 'fastify' {
  interface FastifyInstance {
    /** Calls the listener once for each request from now on; it must not throw. */
    onReplyEnd(listener: ResponseEndListener): void
  }
}

interface SocketResponse {
  readonly refusal: ErrorCode
  /** Value of `x-request-id`. */
  readonly requestId: string
}

/** Responses written directly to the socket, because the rest of the request cannot be read. */
const SOCKET_RESPONSES = new WeakMap<ServerResponse, SocketResponse>()

/**
 * Records the response that was written to the socket in place of Node's; the end is then reported once, with its
 * status.
 */
export function recordSocketResponse(response: ServerResponse, sent: SocketResponse): void {
  SOCKET_RESPONSES.set(response, sent)
}

export const responseEnd = fp(
  async (app: App) => {
    const listeners: ResponseEndListener[] = []
    app.decorate('onReplyEnd', (listener) => void listeners.push(listener))
    app.addHook('onRequest', (request, reply, done) => {
      const startedAtMs = performance.now()
      let isEnded = false
      const end = (isCut: boolean) => {
        if (isEnded) return
        isEnded = true
        const durationMs = performance.now() - startedAtMs
        const socketResponse = SOCKET_RESPONSES.get(reply.raw)
        if (socketResponse) {
          const { status } = ERRORS[socketResponse.refusal]
          const ended = { ...socketResponse, status, param: null, isCut: false, durationMs }
          for (const listener of listeners) listener(request, ended)
          return
        }
        const hasStatus = !isCut || reply.raw.headersSent
        const status = hasStatus ? reply.statusCode : 499
        const { code = null, param = null, isQuoted } = (hasStatus && request.refusal) || {}
        const refusal = hasStatus ? code : 'client_closed_request'
        const ended = { requestId: request.id, status, refusal, param: isQuoted ? null : param }
        for (const listener of listeners) listener(request, { ...ended, isCut, durationMs })
      }
      reply.raw.once('finish', () => end(false))
      reply.raw.once('close', () => end(true))
      done()
    })
  },
  { name: 'response-end' },
)
