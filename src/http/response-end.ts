/** The end of each answer. Fastify's onResponse leaves out answers whose client disconnected before their end. */
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ERRORS, type ErrorCode } from '../errors.ts'
import type { App } from './app-type.ts'

interface AnswerEnd {
  /** The `x-request-id` of the answer. */
  readonly requestId: string
  /** That of the answer, or 499 when the client disconnected before an answer began. */
  readonly status: number
  readonly refusal: ErrorCode | null
  /** The field that it was refused for; null for none, and for the words of an upstream. */
  readonly param: string | null
  /** Whether the connection closed before the end of the answer. */
  readonly isCut: boolean
  /** Since the head of the request. */
  readonly durationMs: number
}

type AnswerEndListener = (request: FastifyRequest, end: AnswerEnd) => void

declare module 'fastify' {
  interface FastifyInstance {
    /** Calls the listener once for each request from now on; it must not throw. */
    onAnswerEnd(listener: AnswerEndListener): void
  }
}

interface SocketResponse {
  readonly refusal: ErrorCode
  /** Its `x-request-id`. */
  readonly requestId: string
}

/** Answers that were written to the socket, because the rest of their request cannot be read. */
const SOCKET_ANSWERS = new WeakMap<ServerResponse, SocketResponse>()

/** Tells what was answered in place of a response; its end is then reported once, as this answer. */
export function recordSocketResponse(response: ServerResponse, answer: SocketResponse): void {
  SOCKET_ANSWERS.set(response, answer)
}

export const responseEnd = fp(
  async (app: App) => {
    const listeners: AnswerEndListener[] = []
    app.decorate('onAnswerEnd', (listener) => void listeners.push(listener))
    app.addHook('onRequest', (request, reply, done) => {
      const startedAtMs = performance.now()
      let isEnded = false
      const end = (isCut: boolean) => {
        if (isEnded) return
        isEnded = true
        const durationMs = performance.now() - startedAtMs
        const socketAnswer = SOCKET_ANSWERS.get(reply.raw)
        if (socketAnswer) {
          const { status } = ERRORS[socketAnswer.refusal]
          const told = { ...socketAnswer, status, param: null, isCut: false, durationMs }
          for (const listener of listeners) listener(request, told)
          return
        }
        const hasAnswer = !isCut || reply.raw.headersSent
        const status = hasAnswer ? reply.statusCode : 499
        const { code = null, param = null, isQuoted } = (hasAnswer && request.refusal) || {}
        const refusal = hasAnswer ? code : 'client_closed_request'
        const told = { requestId: request.id, status, refusal, param: isQuoted ? null : param }
        for (const listener of listeners) listener(request, { ...told, isCut, durationMs })
      }
      reply.raw.once('finish', () => end(false))
      reply.raw.once('close', () => end(true))
      done()
    })
  },
  { name: 'answer-end' },
)
