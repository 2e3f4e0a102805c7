/** One read thread as the pool sees it: runs one job at a time and knows how to stop it. */
import { Worker } from 'node:worker_threads'
import { ApiError } from '../../../errors.ts'
import { toReplyError } from '../db/thread-failure.ts'
import type { ReadWorkerData, ReadWorkerReply, ReadWorkerRequest } from './read-serve.ts'

/** Limit: a thread that does not reach a checkpoint in this time after a cancel is ended. */
const CANCEL_GRACE_MS = 5000

/** Limit: memory for new objects; the rest as Node sets it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }

/** A job that waits or runs. */
export interface PendingRead {
  /** 1..2^31-1. */
  readonly id: number
  readonly name: string
  readonly input: unknown
  /** Settles the caller; later calls do nothing. */
  settle(error: Error | null, value?: unknown): void
}

export interface ReadThread {
  /** What it runs, or null. */
  job(): PendingRead | null
  start(job: PendingRead): void
  /** Tells the running job to stop; the thread is free once it has. */
  cancel(): void
  /** Lets the thread close its connection; ends it by force when it does not. */
  end(): Promise<void>
}

export interface ReadThreadOptions {
  /** The thread's entry. */
  readonly workerFile: URL
  /** The database file. */
  readonly path: string
  /** As of lowerThreadPriority; 0: as all others. */
  readonly niceness: number
  /** It has nothing to do. */
  onIdle(): void
  /** It has died; its job has failed. */
  onLost(): void
}

/** Starts a thread. */
export function createReadThread(options: ReadThreadOptions): ReadThread {
  const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const flag = new Int32Array(cancelled)
  const { path, niceness } = options
  const workerData: ReadWorkerData = { path, niceness, cancelled }
  const worker = new Worker(options.workerFile, { workerData, resourceLimits: RESOURCE_LIMITS })
  let job: PendingRead | null = null
  let isLost = false
  let graceTimer: NodeJS.Timeout | undefined

  function settle(error: Error | null, value?: unknown): void {
    const ended = job
    job = null
    clearTimeout(graceTimer)
    graceTimer = undefined
    ended?.settle(error, value)
  }

  function lose(cause: Error): void {
    if (isLost) return
    isLost = true
    settle(new ApiError('internal_error', { cause }))
    options.onLost()
  }

  function endInTime(): void {
    graceTimer ??= setTimeout(() => void worker.terminate(), CANCEL_GRACE_MS)
  }

  worker.on('message', (reply: ReadWorkerReply) => {
    settle(toReplyError(reply), reply.value)
    options.onIdle()
  })
  worker.on('error', lose)
  worker.on('exit', () => lose(new Error('the read thread ended')))

  return {
    job: () => job,
    start(next) {
      job = next
      const request: ReadWorkerRequest = { id: next.id, name: next.name, input: next.input }
      worker.postMessage(request)
    },
    cancel() {
      if (!job) return
      Atomics.store(flag, 0, job.id)
      endInTime()
    },
    async end() {
      if (job) Atomics.store(flag, 0, job.id)
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
      const request: ReadWorkerRequest = null
      worker.postMessage(request)
      const timer = setTimeout(() => void worker.terminate(), CANCEL_GRACE_MS)
      await ended
      clearTimeout(timer)
    },
  }
}
