/** The end of each answer. Fastify's onResponse leaves out answers whose client disconnected before their end. */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../errors.ts'
import type { App } from './app-type.ts'

interface AnswerEnd {
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

export const answerEnd = fp(
  async (app: App) => {
    const listeners: AnswerEndListener[] = []
    app.decorate('onAnswerEnd', (listener) => void listeners.push(listener))
    app.addHook('onRequest', (request, reply, done) => {
      const startedAtMs = performance.now()
      let isEnded = false
      const end = (isCut: boolean) => {
        if (isEnded) return
        isEnded = true
        const hasAnswer = !isCut || reply.raw.headersSent
        const status = hasAnswer ? reply.statusCode : 499
        const { code = null, param = null, isQuoted } = (hasAnswer && request.refusal) || {}
        const refusal = hasAnswer ? code : 'client_closed_request'
        const durationMs = performance.now() - startedAtMs
        for (const listener of listeners) {
          listener(request, { status, refusal, param: isQuoted ? null : param, isCut, durationMs })
        }
      }
      reply.raw.once('finish', () => end(false))
      reply.raw.once('close', () => end(true))
      done()
    })
  },
  { name: 'answer-end' },
)
