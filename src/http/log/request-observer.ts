/**
 * Reports each response under labels from a fixed set: route patterns and known methods, never text from a client.
 */
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../errors.ts'
import type { App } from '../app-type.ts'

export interface FinishedRequest {
  /** The route pattern, or `unknown`. */
  readonly route: string
  /** The method of the route, or `other`. */
  readonly method: string
  readonly status: number
  /** Time from the head of the request to the end of the response. */
  readonly seconds: number
  /** Code of the error of the response; null on success. */
  readonly refusal: ErrorCode | null
}

export interface RequestObserver {
  /** Called when the response has ended or the client has disconnected; must not throw. */
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
