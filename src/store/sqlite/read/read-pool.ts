/**
 * Runs heavy reads off the event loop: a few readers, fed by a bounded queue in which keys and projects take turns.
 * The main connection never runs such a read, except for a database in memory.
 */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { ApiError, toClientClosedError } from '../../../errors.ts'
import { createFairQueue } from '../../../threads/fair-queue.ts'
import type { ReadMetrics } from '../../api/metrics.ts'
import { sizeOf } from '../../base/db/sizes.ts'
import { createWalGateMemory } from '../db/wal-gate.ts'
import type { ReadInput, ReadJobs, ReadOutput } from './read-job.ts'
import type { ReadJobRegistry } from './read-jobs.ts'
import { createReader, type PendingRead, type Reader } from './reader.ts'

const ENTRY = new URL('./reader-entry.ts', import.meta.url)
/** A reader that was idle between two checks is ended: it holds some 50 MB. */
const POLL_INTERVAL_MS = 60_000
/** Limit: a reader that reaches no checkpoint within this time after a cancel is terminated. */
const CANCEL_GRACE_MS = 5000
/** Limit: started jobs of one key and project on one reader. */
const BEGUN_MAX = 2
/** Limit: bytes of waiting inputs. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024

export interface ReadPool<Jobs extends ReadJobs = ReadJobRegistry> {
  /**
   * Runs a job of the registry. It sees every commit that was acknowledged before this call.
   *
   * @param caller - in whose turn the job runs. If its signal aborts, a waiting job is dropped, a running one stops soon
   * @throws ApiError server_overloaded when the queue is full, read_timeout, client_closed_request (or the
   * signal's reason when that is an ApiError), server_draining after close, internal_error when the
   * reader dies, and what the job throws
   */
  run<Name extends keyof Jobs & string>(
    name: Name,
    input: ReadInput<Jobs, Name>,
    caller: ReadCaller,
  ): Promise<ReadOutput<Jobs, Name>>
  /** Fails waiting and running jobs and ends the readers. */
  close(): Promise<void>
  figures(): Omit<ReadMetrics, 'kind'>
}

export interface ReadPoolOptions {
  /** The database file. */
  readonly path: string
  readonly readers: number
  /** Jobs that may wait for a reader. */
  readonly queueMax: number
  /** Limit: bytes of waiting inputs, estimated. */
  readonly queueBytesMax?: number
  /** Limit: milliseconds from the request to the answer, time in the queue included. */
  readonly timeoutMs: number
  /** Limit: jobs that one reader alternates between, for jobs that pause; default 1. */
  readonly jobsPerReader?: number
  /** Readers kept when idle, since a new one has to warm up; default 1. */
  readonly readersKept?: number
  /** How long a cancelled job may take to stop, milliseconds; then its reader is terminated. */
  readonly cancelGraceMs?: number
  /** Milliseconds between two checks for idle readers. */
  readonly lookEveryMs?: number
  /** Niceness of the readers, as in lowerThreadPriority; default: unchanged. */
  readonly niceness?: number
  /** From createWalGateMemory, when the log of the database is bounded. */
  readonly gate?: SharedArrayBuffer
  /** The reader's entry module; tests pass one with jobs of their own. */
  readonly entry?: URL
}

/** Creates a pool of readers over a database file. Readers start when first needed. */
export function createReadPool<Jobs extends ReadJobs = ReadJobRegistry>(
  options: ReadPoolOptions,
): ReadPool<Jobs> {
  const { queueMax, queueBytesMax = QUEUE_BYTES_MAX, timeoutMs } = options
  const { readersKept = 1, lookEveryMs = POLL_INTERVAL_MS } = options
  const readers = new Set<Reader>()
  /** Readers that got a job since the last check. */
  const used = new Set<Reader>()
  const ending = new Set<Promise<void>>()
  const timer = setInterval(endIdle, lookEveryMs).unref()
  const waiting = createFairQueue<PendingRead>()
  const places = createPlaces(readers, options, startReader)
  let waitingBytes = 0
  const refusals = createRefusals()
  let isClosed = false
  let lastId = 0

  function startReader(): Reader {
    const onLost = (rest: readonly PendingRead[]) => {
      readers.delete(reader)
      for (const job of rest) enqueue(job)
      dispatch()
    }
    const reader = createReader({ ...readerOptionsOf(options), onFree: dispatch, onLost })
    readers.add(reader)
    return reader
  }

  /** Ends idle readers, but keeps the oldest, whose caches are the warmest. */
  function endIdle(): void {
    for (const reader of [...readers].slice(readersKept)) {
      if (reader.jobs().length > 0 || used.has(reader)) continue
      readers.delete(reader)
      const ended = reader.end().finally(() => ending.delete(ended))
      ending.add(ended)
    }
    used.clear()
  }

  function enqueue(job: PendingRead): void {
    waiting.push(job)
    waitingBytes += job.bytes
  }

  /** Makes room in a full queue: the longest line gives way to shorter ones. */
  function makeRoom(caller: ReadCaller, bytes: number): boolean {
    while (waiting.size() >= queueMax || waitingBytes + bytes > queueBytesMax) {
      const last = waiting.lastOfLonger(caller)
      if (!last) return false
      last.settle(refusals.next())
      abandon(last)
    }
    return true
  }

  function dispatch(): void {
    while (!isClosed) {
      const job = waiting.take(places.hasFor)
      if (!job) return
      waitingBytes -= job.bytes
      const reader = places.takeFor(job)
      used.add(reader)
      reader.start(job)
    }
  }

  /** Drops a waiting job, or stops a running one, whose caller has left. */
  function abandon(job: PendingRead): void {
    const before = waiting.size()
    waiting.remove(job)
    if (waiting.size() < before) waitingBytes -= job.bytes
    for (const reader of readers) reader.cancel(job)
  }

  return {
    run(name, input, caller) {
      if (isClosed) return Promise.reject(new ApiError('server_draining'))
      if (caller.signal.aborted) return Promise.reject(toClientClosedError(caller.signal))
      const bytes = sizeOf(input)
      if (!places.hasFor(caller) && !makeRoom(caller, bytes)) return Promise.reject(refusals.next())
      lastId += 1
      const read = { id: lastId, name, input, bytes, caller, timeoutMs, abandon }
      const { job, promise } = createPending(read)
      enqueue(job)
      dispatch()
      return promise as Promise<never>
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      const open = [...readers]
      for (const job of [...waiting.clear(), ...open.flatMap((reader) => reader.jobs())]) {
        job.settle(new ApiError('server_draining'))
      }
      await Promise.all([...open.map((reader) => reader.end()), ...ending])
    },
    figures: () => ({ ...countJobs(readers, waiting.size()), refused: refusals.count() }),
  }
}

function readerOptionsOf(options: ReadPoolOptions) {
  const { entry = ENTRY, cancelGraceMs = CANCEL_GRACE_MS } = options
  const { path, niceness = 0, gate = createWalGateMemory() } = options
  return { entry, cancelGraceMs, path, niceness, gate }
}

function countJobs(readers: ReadonlySet<Reader>, waiting: number) {
  return { running: [...readers].reduce((sum, reader) => sum + reader.jobs().length, 0), waiting }
}

/** Creates and counts the errors for refused jobs. */
function createRefusals() {
  let count = 0
  return {
    count: () => count,
    next(): ApiError {
      count += 1
      return new ApiError('server_overloaded', { retryAfterS: 1 })
    },
  }
}

/**
 * Chooses the reader of a job: the least busy one with room. One key and project never gets the last reader, however
 * much it asks, so others always have one that its jobs cannot block.
 */
function createPlaces(
  readers: ReadonlySet<Reader>,
  { readers: readersMax, jobsPerReader = 1 }: ReadPoolOptions,
  startReader: () => Reader,
) {
  const ownReadersMax = Math.max(1, readersMax - 1)

  function findFor({ keyId, project_id }: Pick<PendingRead, 'keyId' | 'project_id'>) {
    const open = [...readers].map((reader) => {
      const jobs = reader.jobs()
      const own = jobs.filter((job) => job.keyId === keyId && job.project_id === project_id)
      return { reader, begun: jobs.length, own: own.length }
    })
    const isSpread = open.filter(({ own }) => own > 0).length >= ownReadersMax
    const free = open
      .filter(
        ({ begun, own }) => begun < jobsPerReader && own < BEGUN_MAX && (!isSpread || own > 0),
      )
      .sort((left, right) => left.begun - right.begun)[0]
    const canStart = !isSpread && readers.size < readersMax && (free?.begun ?? 1) > 0
    return { reader: canStart ? null : (free?.reader ?? null), canStart }
  }

  return {
    hasFor(job: Pick<PendingRead, 'keyId' | 'project_id'>): boolean {
      const { reader, canStart } = findFor(job)
      return reader !== null || canStart
    },
    /** Returns the reader of a job for which there is room; starts one if needed. */
    takeFor: (job: PendingRead): Reader => findFor(job).reader ?? startReader(),
  }
}

interface PendingOptions extends Pick<PendingRead, 'id' | 'name' | 'input' | 'bytes'> {
  readonly caller: ReadCaller
  readonly timeoutMs: number
  /** The caller has received an error and no longer waits. */
  abandon(job: PendingRead): void
}

/** Creates a job and the promise of its caller. */
function createPending(options: PendingOptions) {
  const { id, name, input, bytes, timeoutMs, abandon } = options
  const { keyId, project_id, signal } = options.caller
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const leave = (error: ApiError) => {
    job.settle(error)
    abandon(job)
  }
  const timer = setTimeout(() => leave(new ApiError('read_timeout')), timeoutMs)
  const onAbort = () => leave(toClientClosedError(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  const job: PendingRead = {
    id,
    name,
    input,
    bytes,
    keyId,
    project_id,
    settle(error, value) {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error)
      else resolve(value)
    },
  }
  return { job, promise }
}
