/** The pool's side of one reader thread: it runs a few jobs in turns and can stop each. */
import { ApiError } from '../../../errors.ts'
import type { Share } from '../../../threads/fair-queue.ts'
import { startGuardedThread } from '../../../threads/thread.ts'
import { toReplyError } from '../../../threads/thread-failure.ts'
import type { ReaderData, ReaderReply, ReaderRequest } from './reader-serve.ts'

/** Limit: how long a reader may take to close, milliseconds. */
const END_MS_MAX = 5000

/** Limit: memory for new objects; the rest are Node's defaults. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }

/** A job that waits or runs. */
export interface PendingRead extends Share {
  readonly id: number
  readonly name: string
  readonly input: unknown
  /** The estimated bytes of the input. */
  readonly bytes: number
  /** Settles the caller; later calls do nothing. */
  settle(error: Error | null, value?: unknown): void
}

export interface Reader {
  /** The jobs it runs. */
  jobs(): readonly PendingRead[]
  start(job: PendingRead): void
  /** Tells a running job to stop; its slot is free once it has. Does nothing for any other job. */
  cancel(job: PendingRead): void
  /** Lets the reader close its connection; terminates it when it does not. */
  end(): Promise<void>
}

interface ReaderOptions extends ReaderData {
  /** The reader's entry module. */
  readonly entry: URL
  /** Limit: a reader that reaches no checkpoint within this time after a cancel is terminated. */
  readonly cancelGraceMs: number
  /** A job has ended. */
  onFree(): void
  /**
   * The thread has died and its jobs have failed. When it was terminated because of one job, `rest` holds its other
   * jobs, which have not failed: another reader may run them again.
   */
  onLost(rest: readonly PendingRead[]): void
}

interface Started {
  readonly job: PendingRead
  readonly cancelled: Int32Array
  graceTimer?: NodeJS.Timeout
}

/** Starts a reader. */
export function createReader(options: ReaderOptions): Reader {
  const { entry, cancelGraceMs, onFree, onLost, path, niceness, gate } = options
  const workerData: ReaderData = { path, niceness, gate }
  const thread = startGuardedThread(entry, { workerData, resourceLimits: RESOURCE_LIMITS })
  const { worker } = thread
  const started = new Map<number, Started>()
  let isLost = false
  let isForced = false

  function settle(id: number, error: Error | null, value?: unknown): void {
    const ended = started.get(id)
    started.delete(id)
    clearTimeout(ended?.graceTimer)
    ended?.job.settle(error, value)
  }

  function lose(cause: Error): void {
    if (isLost) return
    isLost = true
    const left = [...started.values()]
    const rest = isForced ? left.filter(({ graceTimer }) => graceTimer === undefined) : []
    for (const { job } of rest) started.delete(job.id)
    for (const id of [...started.keys()]) settle(id, new ApiError('internal_error', { cause }))
    onLost(rest.map(({ job }) => job))
  }

  function endByForce(): void {
    isForced = true
    thread.endByForce()
  }

  worker.on('message', (reply: ReaderReply) => {
    settle(reply.id, toReplyError(reply), reply.value)
    onFree()
  })
  worker.on('error', lose)
  worker.on('exit', () => lose(new Error('the reader ended')))

  return {
    jobs: () => [...started.values()].map(({ job }) => job),
    start(job) {
      const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
      started.set(job.id, { job, cancelled: new Int32Array(cancelled) })
      const { id, name, input, keyId, project_id } = job
      const request: ReaderRequest = { id, name, input, keyId, project_id, cancelled }
      worker.postMessage(request)
    },
    cancel({ id }) {
      const found = started.get(id)
      if (!found) return
      Atomics.store(found.cancelled, 0, 1)
      found.graceTimer ??= setTimeout(endByForce, cancelGraceMs)
    },
    async end() {
      for (const { cancelled } of started.values()) Atomics.store(cancelled, 0, 1)
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
      const request: ReaderRequest = null
      worker.postMessage(request)
      const timer = setTimeout(thread.endByForce, END_MS_MAX)
      await ended
      clearTimeout(timer)
    },
  }
}
