/**
 * Heavy reads off the event loop: a few worker threads, a bounded queue before them. The main connection
 * is never used for a read of this kind, except where the database lives in memory alone.
 */
import { ApiError } from '../../../errors.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadInput, ReadJobRegistry, ReadJobs, ReadOutput } from './read-jobs.ts'
import { runReadJob } from './read-serve.ts'
import { createReadThread, type PendingRead, type ReadThread } from './read-thread.ts'

const WORKER_FILE = new URL('./read-worker.ts', import.meta.url)
const JOB_ID_MAX = 2 ** 31 - 1
/** A thread that did nothing between two looks is ended: it holds some 50 MB. */
const LOOK_EVERY_MS = 60_000

export interface ReadPool<Jobs extends ReadJobs = ReadJobRegistry> {
  /**
   * Runs a job of the registry. It sees every commit that was acknowledged before.
   *
   * @param signal - aborted when nobody waits any more: a waiting job is dropped, a running one stops soon
   * @throws ApiError server_overloaded when the queue is full, read_timeout, client_closed_request (or the
   * signal's reason when that is an ApiError), server_draining after close, internal_error when the
   * thread dies, and what the job throws
   */
  run<Name extends keyof Jobs & string>(
    name: Name,
    input: ReadInput<Jobs, Name>,
    signal: AbortSignal,
  ): Promise<ReadOutput<Jobs, Name>>
  /** Fails what waits and runs, ends the threads. */
  close(): Promise<void>
}

export interface ReadPoolOptions {
  /** The database file. */
  readonly path: string
  readonly threads: number
  /** Jobs that may wait for a thread. */
  readonly queueMax: number
  /** From the request to the answer, waiting included. */
  readonly timeoutMs: number
  /** Threads that stay when there is nothing to do, since a new one has to warm up; default 1. */
  readonly threadsKept?: number
  /** How often the others are looked at, milliseconds. */
  readonly lookEveryMs?: number
  /** Of its threads, as of lowerThreadPriority; default: as all others. */
  readonly niceness?: number
  /** The thread's entry; tests give one with jobs of their own. */
  readonly workerFile?: URL
}

/** A pool of threads over a database file. Threads are started when they are first needed. */
export function createReadPool<Jobs extends ReadJobs = ReadJobRegistry>(
  options: ReadPoolOptions,
): ReadPool<Jobs> {
  const { path, queueMax, timeoutMs, workerFile = WORKER_FILE } = options
  const { threadsKept = 1, lookEveryMs = LOOK_EVERY_MS, niceness = 0 } = options
  const threads = new Set<ReadThread>()
  /** Those that got a job since the last look. */
  const used = new Set<ReadThread>()
  const ending = new Set<Promise<void>>()
  const timer = setInterval(endIdle, lookEveryMs).unref()
  let waiting: PendingRead[] = []
  let isClosed = false
  let lastId = 0

  function startThread(): ReadThread {
    const onLost = () => {
      threads.delete(thread)
      dispatch()
    }
    const thread = createReadThread({ workerFile, path, niceness, onIdle: dispatch, onLost })
    threads.add(thread)
    return thread
  }

  function findIdle(): ReadThread | undefined {
    return [...threads].find((thread) => thread.job() === null)
  }

  /** The oldest stay: they know the most. */
  function endIdle(): void {
    for (const thread of [...threads].slice(threadsKept)) {
      if (thread.job() !== null || used.has(thread)) continue
      threads.delete(thread)
      const ended = thread.end().finally(() => ending.delete(ended))
      ending.add(ended)
    }
    used.clear()
  }

  function dispatch(): void {
    while (!isClosed) {
      const idle = findIdle()
      const job = idle || threads.size < options.threads ? waiting.shift() : undefined
      if (!job) return
      const thread = idle ?? startThread()
      used.add(thread)
      thread.start(job)
    }
  }

  /** The caller has left: drops the job, or tells its thread to stop. */
  function abandon(job: PendingRead): void {
    waiting = waiting.filter((other) => other !== job)
    for (const thread of threads) if (thread.job() === job) thread.cancel()
  }

  return {
    run(name, input, signal) {
      if (isClosed) return Promise.reject(new ApiError('server_draining'))
      if (signal.aborted) return Promise.reject(toAbortError(signal))
      const mustWait = threads.size >= options.threads && !findIdle()
      if (mustWait && waiting.length >= queueMax) {
        return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 1 }))
      }
      lastId = lastId === JOB_ID_MAX ? 1 : lastId + 1
      const { job, promise } = createPending({
        id: lastId,
        name,
        input,
        timeoutMs,
        signal,
        abandon,
      })
      waiting.push(job)
      dispatch()
      return promise as Promise<never>
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      const open = [...threads]
      for (const job of [...waiting, ...open.map((thread) => thread.job())]) {
        job?.settle(new ApiError('server_draining'))
      }
      waiting = []
      await Promise.all([...open.map((thread) => thread.end()), ...ending])
    },
  }
}

interface PendingOptions {
  readonly id: number
  readonly name: string
  readonly input: unknown
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** The caller has got its error and waits no more. */
  abandon(job: PendingRead): void
}

/** A job and the promise of its caller, which settles once: by the job, the clock or the signal. */
function createPending({ id, name, input, timeoutMs, signal, abandon }: PendingOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const leave = (error: ApiError) => {
    job.settle(error)
    abandon(job)
  }
  const timer = setTimeout(() => leave(new ApiError('read_timeout')), timeoutMs)
  const onAbort = () => leave(toAbortError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  const job: PendingRead = {
    id,
    name,
    input,
    settle(error, value) {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
      else resolve(value)
    },
  }
  return { job, promise }
}

/** The same jobs on the main connection, one at a time: for a database that no thread can open. */
export function createInlineReadPool<Jobs extends ReadJobs>(
  db: Connection,
  jobs: Jobs,
): ReadPool<Jobs> {
  return {
    async run(name, input, signal) {
      await new Promise((resolve) => setImmediate(resolve))
      if (signal.aborted) throw toAbortError(signal)
      if (!db.open) throw new ApiError('server_draining')
      return runReadJob(db, jobs, { name, input }, () => {}) as never
    },
    async close() {},
  }
}

function toAbortError({ reason }: AbortSignal): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('client_closed_request')
}
