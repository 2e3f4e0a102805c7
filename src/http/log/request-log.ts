/**
 * Request ids, the end of each response, and one log line for it, except for status 503, which is counted. Bodies,
 * headers and query strings are never logged. Fastify's onResponse hook leaves out responses whose client disconnected
 * before the end.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ERRORS, type ErrorCode } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { newId } from '../new-id.ts'

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** Returns the client's `x-request-id` if it is well-formed, otherwise a new UUIDv7. */
export function chooseRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** Adds `request-id` to responses, where clients of Anthropic's API look for the id. */
export function useRequestIdHeader(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('request-id', request.id)
    done()
  })
}

/** Adds `x-request-id` to responses, and logs route, status, duration, caller and why a request was refused. */
export const requestLog = fp(
  async (app: App) => {
    // All logged fields are listed below, so nothing needs to be redacted, which would cost more than the line.
    const lines = app.log.child({}, { redact: [] })
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      done()
    })
    app.onReplyEnd((request, { requestId, status, refusal, param, isCut, durationMs }) => {
      if (status === 503) return
      lines.info(
        {
          request_id: requestId,
          method: request.method,
          route: request.routeOptions.url ?? null,
          status,
          duration_ms: Math.round(durationMs * 1000) / 1000,
          svc_user_id: request.principal?.svc_user_id ?? null,
          ...(refusal === null ? {} : { code: refusal, param }),
        },
        isCut ? 'client disconnected before the end of the answer' : 'request answered',
      )
    })
  },
  { name: 'request-log', dependencies: ['response-end'] },
)

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
