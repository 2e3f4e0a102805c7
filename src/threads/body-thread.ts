/** A thread for work on large bodies, one after the other. Started by the first, ended when it is idle. */
import type { Transferable } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import type { Share } from './fair-queue.ts'
import { startThread, type Thread, ThreadLostError } from './thread.ts'
import { createTurns } from './turns.ts'

/** An idle thread is ended after this, since it keeps the memory of the largest body. */
const IDLE_MS_MAX = 10_000
/** Bodies of unknown keys share one line. */
const ANYONE: Share = { keyId: '', project_id: '' }

export interface BodyThreadEntry {
  /** Its file, which calls serveThread; tests pass their own. */
  readonly entry: URL
  /** Memory of the thread. */
  readonly heapMibMax: number
}

interface BodyRunOptions {
  readonly transfer?: readonly Transferable[]
  /** In whose turn it runs. */
  readonly share?: Share
}

export interface BodyThread<Request, Reply> {
  /**
   * @throws ApiError request_too_large when the memory does not suffice, server_overloaded, server_draining;
   * whatever the entry throws
   */
  run(request: Request, options?: BodyRunOptions): Promise<Reply>
  /** Fails what waits and stops the thread. */
  close(): Promise<void>
}

/** @param waitingMax - limit: bodies that wait for the thread; by default the caller bounds them */
export function createBodyThread<Request, Reply>(
  { entry, heapMibMax }: BodyThreadEntry,
  waitingMax = Number.POSITIVE_INFINITY,
): BodyThread<Request, Reply> {
  const turns = createTurns({ slots: 1, queueMax: waitingMax })
  let thread: Thread<Request, Reply> | null = null
  let isClosed = false
  let idleTimer: NodeJS.Timeout | undefined

  function start(): Thread<Request, Reply> {
    return startThread<Request, Reply>(entry, {
      memory: { maxOldGenerationSizeMb: heapMibMax },
      isUnref: true,
      onLost() {
        thread = null
      },
    })
  }

  async function end(): Promise<void> {
    const ended = thread
    thread = null
    await ended?.close(0)
  }

  function toBodyError(error: unknown): unknown {
    if (isClosed) return new ApiError('server_draining')
    if (!(error instanceof ThreadLostError)) return error
    const code = error.isOutOfMemory ? 'request_too_large' : 'internal_error'
    return new ApiError(code, { cause: error })
  }

  return {
    async run(request, { transfer = [], share = ANYONE } = {}) {
      const leave = await turns.enter(share)
      clearTimeout(idleTimer)
      try {
        if (isClosed) throw new ApiError('server_draining')
        thread ??= start()
        return await thread.call(request, { transfer })
      } catch (error) {
        throw toBodyError(error)
      } finally {
        idleTimer = setTimeout(end, IDLE_MS_MAX).unref()
        leave()
      }
    },
    async close() {
      isClosed = true
      turns.close()
      clearTimeout(idleTimer)
      await end()
    },
  }
}
