/** Reports each answer under labels from a fixed set: route patterns and known methods, never what a client sent. */
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../errors.ts'
import type { App } from '../app-type.ts'

export interface FinishedRequest {
  /** The route pattern, or `unknown`. */
  readonly route: string
  /** The method of the route, or `other`. */
  readonly method: string
  readonly status: number
  /** From the request's head to the end of the answer. */
  readonly seconds: number
  /** Why it was refused, or null. */
  readonly refusal: ErrorCode | null
}

export interface RequestObserver {
  /** Called when the answer has ended or its client has disconnected; must not throw. */
  requestFinished(request: FinishedRequest): void
}

interface RequestWatchOptions {
  readonly watch: RequestObserver
}

export const requestWatch = fp(
  async (app: App, { watch }: RequestWatchOptions) => {
    app.onReplyEnd((request, { status, refusal, durationMs }) => {
      const { url: route } = request.routeOptions
      const isKnown = route !== undefined && !request.is404
      watch.requestFinished({
        route: isKnown ? route : 'unknown',
        method: isKnown ? request.method : 'other',
        status,
        seconds: durationMs / 1000,
        refusal,
      })
    })
  },
  { name: 'request-watch', dependencies: ['response-end'] },
)
