/** A thread for work on large bodies, one after the other. Started by the first, ended when it is idle. */
import type { Transferable } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { ApiError } from '../errors.ts'

/** An idle thread is ended after this, since it keeps the memory of the largest body. */
const IDLE_MS_MAX = 10_000

export interface BodyThreadEntry {
  /** Its file; tests pass their own. */
  readonly entry: URL
  /** Memory of the thread. */
  readonly heapMibMax: number
}

interface BodyThreadOptions extends BodyThreadEntry {
  /** The function that the entry exports. */
  readonly name: string
  /** Limit: bodies that wait for the thread. Default: the caller bounds them. */
  readonly waitingMax?: number
}

export interface BodyThread<Task, Result> {
  /**
   * @throws ApiError request_too_large when the memory does not suffice, server_overloaded, server_draining;
   * whatever the entry throws
   */
  run(task: Task, transferList?: Transferable[]): Promise<Result>
  /** Fails what waits and stops the thread. */
  close(): Promise<void>
}

export function createBodyThread<Task, Result>(
  options: BodyThreadOptions,
): BodyThread<Task, Result> {
  const { name, entry, heapMibMax, waitingMax = Number.POSITIVE_INFINITY } = options
  let pool: Piscina<Task, Result> | null = null
  let isClosed = false
  const start = () =>
    new Piscina<Task, Result>({
      filename: entry.href,
      name,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS_MAX,
      resourceLimits: { maxOldGenerationSizeMb: heapMibMax },
    })

  async function run(task: Task, transferList: Transferable[] = []): Promise<Result> {
    if (isClosed) throw new ApiError('server_draining')
    pool ??= start()
    const running = pool
    if (running.queueSize >= waitingMax) throw new ApiError('server_overloaded', { retryAfterS: 1 })
    try {
      return await running.run(task, { transferList })
    } catch (cause) {
      if (isClosed) throw new ApiError('server_draining')
      // It waited behind a body that killed the thread, and was not begun.
      if (pool !== running) return run(task, transferList)
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw cause
      // When a thread dies, the pool starts no new one for the waiting tasks.
      pool = null
      void running.destroy()
      throw new ApiError('request_too_large', { cause })
    }
  }

  return {
    run,
    async close() {
      isClosed = true
      await pool?.destroy()
    },
  }
}
