/**
 * The reader's side of the read pool: runs its jobs in turns of one slice each, and replies with the value or error
 * of each. No read transaction is open between slices.
 */
import { getHeapStatistics } from 'node:v8'
import { workerData } from 'node:worker_threads'
import { ApiError } from '../../../errors.ts'
import { createFairQueue, type Share } from '../../../threads/fair-queue.ts'
import { collectWhenIdle } from '../../../threads/idle-gc.ts'
import { serveThread } from '../../../threads/serve-thread.ts'
import { lowerThreadPriority } from '../../../threads/thread-priority.ts'
import { type Connection, openReadOnlyDatabase } from '../db/connection.ts'
import { orStoreError, toStoreError } from '../db/store-error.ts'
import { openWalGate, type WalGate } from '../db/wal-gate.ts'
import type { Checkpoint, ReadJobs } from './read-job.ts'

/** How long a job that can pause runs while others wait, milliseconds. */
const SLICE_MS = 50
/** How long a job may pin a full log, milliseconds: a slice and the time to notice. */
const FULL_LOG_MS = 1000

/** The `workerData` of a reader. */
export interface ReaderData {
  /** The database file. */
  readonly path: string
  /** As in lowerThreadPriority; 0: unchanged. */
  readonly niceness: number
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
}

/** A request to a reader. */
export interface ReadRequest extends Share {
  readonly name: string
  readonly input: unknown
}

/** A job that stopped because nobody waits for it. */
class ReadCancelledError extends Error {}

/** A started job. */
interface RunningJob {
  /**
   * Runs one slice in its own read transaction, so that all its statements see the same snapshot.
   *
   * @param checkpoint - the checkpoint of this slice
   * @returns the value of the job, or null when it must be resumed
   * @throws ApiError, and whatever the job throws; the job is then over
   */
  runSlice(checkpoint: Checkpoint): { readonly value: unknown } | null
  /** Abandons the job. Does nothing when it is over. */
  end(): void
}

/** Prepares a job of a registry; nothing runs yet. */
export function beginReadJob(
  db: Connection,
  jobs: ReadJobs,
  { name, input }: { readonly name: string; readonly input: unknown },
): RunningJob {
  let rest: Iterator<void, unknown> | null = null
  let current: Checkpoint = () => false
  const runNext = db.transaction((): { readonly value: unknown } | null => {
    if (rest === null) {
      const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined
      if (!job) throw new Error(`there is no read job ${name}`)
      const begun: unknown = job(db, input as never, () => current())
      if (!isIterator(begun)) return { value: begun }
      rest = begun
    }
    const next = rest.next()
    return next.done === true ? { value: next.value } : null
  })
  return {
    runSlice(checkpoint) {
      current = checkpoint
      return orStoreError(() => runNext())
    },
    end() {
      rest?.return?.()
    },
  }
}

function isIterator(value: unknown): value is Iterator<void, unknown> {
  return typeof (value as { next?: unknown } | null)?.next === 'function'
}

interface ServedJob extends ReadRequest, PromiseWithResolvers<unknown> {
  isCancelled(): boolean
  begun: RunningJob | null
}

/** Serves the jobs to the pool that started this thread. */
export function serveReadJobs(jobs: ReadJobs): void {
  const { path, niceness, gate: memory } = workerData as ReaderData
  if (niceness > 0) lowerThreadPriority(niceness)
  const gate = openWalGate(memory)
  const running = createFairQueue<ServedJob>()
  let db: Connection | null = null
  let isScheduled = false
  collectWhenIdle(() => getHeapStatistics().total_heap_size)

  function runNext(): void {
    isScheduled = false
    const job = running.take()
    if (!job) return
    try {
      db ??= openReadOnlyDatabase(path)
      job.begun ??= beginReadJob(db, jobs, job)
      gate.awaitRead()
      const ended = job.begun.runSlice(createCheckpoint(job, gate))
      if (ended) job.resolve(ended.value)
      else running.push(job)
    } catch (thrown) {
      job.begun?.end()
      job.reject(toStoreError(thrown))
    }
    schedule()
  }

  /** Lets messages come in between two slices. */
  function schedule(): void {
    if (isScheduled || running.size() === 0) return
    isScheduled = true
    setImmediate(runNext)
  }

  serveThread<ReadRequest, unknown>(() => ({
    run(request, isCancelled) {
      const job = { ...request, ...Promise.withResolvers<unknown>(), isCancelled, begun: null }
      running.push(job)
      schedule()
      return job.promise
    },
    close() {
      running.clear()
      db?.close()
    },
  }))
}

/** Creates the checkpoint of a slice that begins now. */
function createCheckpoint({ isCancelled }: ServedJob, gate: WalGate): Checkpoint {
  const beganMs = performance.now()
  const check = () => {
    if (isCancelled()) throw new ReadCancelledError()
    const tookMs = performance.now() - beganMs
    if (tookMs > FULL_LOG_MS && gate.isFull()) {
      throw new ApiError('server_overloaded', { retryAfterS: 1 })
    }
    return tookMs >= SLICE_MS
  }
  check()
  return check
}
