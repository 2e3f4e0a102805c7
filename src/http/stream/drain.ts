/**
 * Shutdown in order: refuse new work, let running requests end for a while, then abort what is left.
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
    /** Aborted as soon as the shutdown begins: ends waits for what will not come any more. */
    stopping: AbortSignal
    /** Opens what ends a request: its client leaves, or running requests must end. */
    openAbort: OpenAbort
    /** Opens what ends a request that only waits: its client leaves, or the shutdown begins. */
    openWait: OpenAbort
  }
}

interface DrainOptions {
  /** Time that running requests get to end by themselves. */
  readonly drainTimeoutMs: number
}

const POLL_MS = 20
/** Limit: what aborted requests get to write their last words. */
const LAST_WORDS_MS = 1_500

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
    const leave = () => {
      running -= 1
    }
    app.addHook('onRequest', (_request, reply, done) => {
      running += 1
      // Closed once, like every answer: there is no listener to take away then.
      reply.raw.on('close', leave)
      if (!isDraining) {
        done()
        return
      }
      reply.header('connection', 'close')
      done(new ApiError('server_draining', { retryAfterS: 1 }))
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      // Without it a finished keep-alive socket would hold the server open.
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
      await waitUntilIdle(LAST_WORDS_MS)
      // What is left waits for a request that never comes, or for a reader that has stopped.
      app.server.closeAllConnections()
    })
  },
  { name: 'drain' },
)
