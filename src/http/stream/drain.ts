/**
 * Orderly shutdown: refuse new connections and requests, give running requests time to end, then abort the rest.
 * `app.draining` is the signal that streams and long reads must obey.
 */
import type { IncomingMessage } from 'node:http'
import { Server, type Socket } from 'node:net'
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
/**
 * Polls in a row without a request after which the connections that remain are unused. Those in use first get a response
 * that closes them: a client that sends just as its connection is closed does not know whether its request was processed.
 */
const UNUSED_POLLS = 12
/** Limit: milliseconds in which aborted requests have to finish their responses. */
const ABORT_GRACE_MS = 1_500

/** Installs the drain; `app.close()` then never waits for a stream longer than the timeout. */
export const drain = fp<DrainOptions>(
  async (app: App, { drainTimeoutMs }) => {
    const abort = new AbortController()
    const stop = new AbortController()
    let isDraining = false
    let running = 0
    let isRequested = false
    let hasConnections = true
    /** The newest request of each connection. Responses before that of a pipelined one must not close the connection. */
    const newest = new WeakMap<Socket, IncomingMessage>()
    app.decorate('draining', abort.signal)
    app.decorate('stopping', stop.signal)
    app.decorate('openAbort', createAborts(abort.signal))
    app.decorate('openWait', createAborts(stop.signal))
    app.onReplyEnd(() => {
      running -= 1
    })
    app.addHook('onRequest', ({ raw }, _reply, done) => {
      running += 1
      newest.set(raw.socket, raw)
      if (!isDraining) {
        done()
        return
      }
      isRequested = true
      done(new ApiError('server_draining', { retryAfterS: 1 }))
    })
    app.addHook('onSend', ({ raw }, reply, payload, done) => {
      // Otherwise an idle keep-alive socket would keep the server from closing.
      if (isDraining && newest.get(raw.socket) === raw) reply.header('connection', 'close')
      done(null, payload)
    })
    /** Frees the port without closing connections that are idle, as `close` of an HTTP server does. */
    function stopListening(): void {
      hasConnections = app.server.listening
      app.server.once('close', () => {
        hasConnections = false
      })
      if (app.server.listening) Server.prototype.close.call(app.server)
    }
    async function waitUntilIdle(timeoutMs: number): Promise<void> {
      const deadline = performance.now() + timeoutMs
      // Counted instead of timed: each poll reads what has arrived while other work held the event loop.
      let unusedPolls = 0
      const isInUse = () => hasConnections && unusedPolls < UNUSED_POLLS
      while ((running > 0 || isInUse()) && performance.now() < deadline) {
        isRequested = false
        await setTimeout(POLL_MS)
        unusedPolls = isRequested ? 0 : unusedPolls + 1
      }
    }

    app.addHook('preClose', async () => {
      isDraining = true
      stopListening()
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
