/**
 * Orderly shutdown: refuse new work, give running requests time to end, then abort the rest.
 * `app.draining` is the signal that streams and long reads must obey.
 */
import { setTimeout } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { createAborts, type OpenAbort } from './client-signal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when running requests must end now. */
    draining: AbortSignal
    /** Aborted as soon as the shutdown begins: ends waits for things that will no longer happen. */
    stopping: AbortSignal
    /** Opens the abort controller of a request: aborted when its client disconnects, or running requests must end. */
    openAbort: OpenAbort
    /**
     * Opens the abort controller of a request that only waits. It is aborted when the client disconnects or the
     * shutdown begins.
     */
    openWait: OpenAbort
  }
}

interface DrainOptions {
  /** Milliseconds that running requests have to end by themselves. */
  readonly drainTimeoutMs: number
}

const POLL_MS = 20
/** Limit: milliseconds in which aborted requests have to finish their responses. */
const ABORT_GRACE_MS = 1_500

/** Installs the drain; `app.close()` then never waits for a stream longer than the timeout. */
export const drain = fp<DrainOptions>(
  async (app: App, { drainTimeoutMs }) => {
    const abort = new AbortController()
    const stop = new AbortController()
    let isDraining = false
    let running = 0
    app.decorate('draining', abort.signal)
    app.decorate('stopping', stop.signal)
    app.decorate('openAbort', createAborts(abort.signal))
    app.decorate('openWait', createAborts(stop.signal))
    app.onReplyEnd(() => {
      running -= 1
    })
    app.addHook('onRequest', (_request, reply, done) => {
      running += 1
      if (!isDraining) {
        done()
        return
      }
      reply.header('connection', 'close')
      done(new ApiError('server_draining', { retryAfterS: 1 }))
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      // Otherwise an idle keep-alive socket would keep the server from closing.
      if (isDraining) reply.header('connection', 'close')
      done(null, payload)
    })
    async function waitUntilIdle(timeoutMs: number): Promise<void> {
      const deadline = performance.now() + timeoutMs
      while (running > 0 && performance.now() < deadline) await setTimeout(POLL_MS)
    }

    app.addHook('preClose', async () => {
      isDraining = true
      stop.abort(new ApiError('server_draining'))
      await waitUntilIdle(drainTimeoutMs)
      abort.abort(new ApiError('server_draining'))
      await waitUntilIdle(ABORT_GRACE_MS)
      // The remaining connections wait for a request that never comes, or for a reader that has stopped.
      app.server.closeAllConnections()
    })
  },
  { name: 'drain', dependencies: ['response-end'] },
)
