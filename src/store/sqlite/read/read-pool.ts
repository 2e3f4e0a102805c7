/**
 * Runs heavy reads off the event loop: a few readers, fed by a bounded queue in which keys and projects take turns.
 * The main connection never runs such a read, except for a database in memory.
 */
import { extname } from 'node:path'
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import { ApiError, toClientClosedError } from '../../../errors.ts'
import type { Share } from '../../../threads/fair-queue.ts'
import { startThread, type Thread, ThreadLostError } from '../../../threads/thread.ts'
import { createTurns } from '../../../threads/turns.ts'
import type { ReadMetrics } from '../../api/metrics.ts'
import { sizeOf } from '../../base/db/sizes.ts'
import { createWalGateMemory } from '../db/wal-gate.ts'
import type { ReadInput, ReadJobs, ReadOutput } from './read-job.ts'
import type { ReadJobRegistry } from './read-jobs.ts'
import type { ReaderData, ReadRequest } from './reader-serve.ts'

const ENTRY = new URL(`./reader-entry${extname(import.meta.url)}`, import.meta.url)
/** A reader that was idle between two checks is ended: it holds some 50 MB. */
const POLL_INTERVAL_MS = 60_000
/** Limit: a reader that reaches no checkpoint within this time after a cancel is terminated. */
const CANCEL_GRACE_MS = 5000
/** Limit: how long a reader may take to close, milliseconds. */
const END_MS_MAX = 5000
/** Limit: started jobs of one key and project on one reader. */
const BEGUN_MAX = 2
/** Limit: bytes of waiting inputs. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024
/** Limit: memory for new objects; the rest are Node's defaults. */
const MEMORY = { maxYoungGenerationSizeMb: 8 }

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

interface Reader {
  readonly thread: Thread<ReadRequest, never>
  /** The jobs it runs. */
  readonly reads: Set<Share>
  /** Whether it got a job since the last check. */
  isUsed: boolean
}

/** A job that waits or runs. */
interface Read extends ReadCaller {
  /** The estimated bytes of the input. */
  readonly bytes: number
  /** Set when it begins. */
  reader?: Reader
}

/** Creates a pool of readers over a database file. Readers start when first needed. */
export function createReadPool<Jobs extends ReadJobs = ReadJobRegistry>(
  options: ReadPoolOptions,
): ReadPool<Jobs> {
  const { queueMax, queueBytesMax = QUEUE_BYTES_MAX, timeoutMs } = options
  const { cancelGraceMs = CANCEL_GRACE_MS } = options
  const readers = createReaders(options)
  const turns = createTurns<Read>({ queueMax, queueBytesMax, takeSlot: readers.take })
  const open = new Set<Deadline>()
  let isClosed = false

  async function runInTurn(read: Read, request: ReadRequest): Promise<never> {
    const { signal } = read
    const leave = await turns.enter(read)
    const reader = read.reader as Reader
    let grace: NodeJS.Timeout | undefined
    const onAbort = () => {
      grace = setTimeout(() => readers.end(reader, 0), cancelGraceMs)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      requireWaiting(signal)
      return await reader.thread.call(request, { signal })
    } finally {
      clearTimeout(grace)
      signal.removeEventListener('abort', onAbort)
      reader.reads.delete(read)
      leave()
    }
  }

  /** Runs a job again when its reader was terminated because of another job. */
  async function runAnyhow(read: Read, request: ReadRequest): Promise<never> {
    try {
      return await runInTurn(read, request)
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
      if (error.isCrash || read.signal.aborted) {
        throw new ApiError('internal_error', { cause: error })
      }
      return runAnyhow(read, request)
    }
  }

  return {
    async run(name, input, { keyId, project_id, signal }) {
      if (isClosed) throw new ApiError('server_draining')
      requireWaiting(signal)
      const deadline = createDeadline(signal, timeoutMs)
      open.add(deadline)
      const read = { keyId, project_id, bytes: sizeOf(input), signal: deadline.signal }
      const value = runAnyhow(read, { name, input, keyId, project_id })
      value.catch(() => undefined)
      try {
        return await Promise.race([value, deadline.passed])
      } finally {
        deadline.forget()
        open.delete(deadline)
      }
    },
    async close() {
      isClosed = true
      for (const deadline of open) deadline.pass(new ApiError('server_draining'))
      await readers.close()
    },
    figures: turns.figures,
  }
}

interface Deadline {
  readonly signal: AbortSignal
  /** Rejects when the signal aborts, with its reason. */
  readonly passed: Promise<never>
  pass(reason: ApiError): void
  forget(): void
}

/** Creates a signal that aborts with the caller's, or when the time is up. */
function createDeadline(caller: AbortSignal, timeoutMs: number): Deadline {
  const abort = new AbortController()
  const { promise: passed, reject } = Promise.withResolvers<never>()
  const onAbort = () => pass(toClientClosedError(caller))
  const timer = setTimeout(() => pass(new ApiError('read_timeout')), timeoutMs)
  caller.addEventListener('abort', onAbort, { once: true })

  function pass(reason: ApiError): void {
    reject(reason)
    abort.abort(reason)
  }

  return {
    signal: abort.signal,
    passed,
    pass,
    forget() {
      clearTimeout(timer)
      caller.removeEventListener('abort', onAbort)
    },
  }
}

/** The readers of a pool. */
function createReaders(options: ReadPoolOptions) {
  const { path, niceness = 0, gate = createWalGateMemory(), entry = ENTRY } = options
  const { readersKept = 1, lookEveryMs = POLL_INTERVAL_MS } = options
  const data: ReaderData = { path, niceness, gate }
  const readers = new Set<Reader>()
  const ending = new Set<Promise<void>>()
  const timer = setInterval(endIdle, lookEveryMs).unref()

  function start(): Reader {
    const onLost = () => void readers.delete(reader)
    const thread = startThread<ReadRequest, never>(entry, { data, memory: MEMORY, onLost })
    const reader: Reader = { thread, reads: new Set(), isUsed: true }
    readers.add(reader)
    return reader
  }

  function end(reader: Reader, waitMsMax: number): void {
    readers.delete(reader)
    const ended = reader.thread.close(waitMsMax).finally(() => ending.delete(ended))
    ending.add(ended)
  }

  /** Ends idle readers, but keeps the oldest, whose caches are the warmest. */
  function endIdle(): void {
    for (const reader of [...readers].slice(readersKept)) {
      if (reader.reads.size === 0 && !reader.isUsed) end(reader, END_MS_MAX)
    }
    for (const reader of readers) reader.isUsed = false
  }

  return {
    end,
    /** Assigns a job its reader. @returns false when none has room */
    take(read: Read): boolean {
      const found = findReader(readers, read, options)
      if (found === null) return false
      read.reader = found === 'new' ? start() : found
      read.reader.isUsed = true
      read.reader.reads.add(read)
      return true
    },
    async close() {
      clearInterval(timer)
      for (const reader of readers) end(reader, END_MS_MAX)
      await Promise.all(ending)
    },
  }
}

/**
 * Chooses the reader of a job: the least busy one with room. One key and project never gets the last reader, however
 * much it asks, so others always have one that its jobs cannot block.
 */
function findReader(
  readers: ReadonlySet<Reader>,
  { keyId, project_id }: Share,
  { readers: readersMax, jobsPerReader = 1 }: ReadPoolOptions,
): Reader | 'new' | null {
  const open = [...readers].map((reader) => {
    const own = [...reader.reads].filter(
      (read) => read.keyId === keyId && read.project_id === project_id,
    )
    return { reader, begun: reader.reads.size, own: own.length }
  })
  const isSpread = open.filter(({ own }) => own > 0).length >= Math.max(1, readersMax - 1)
  const free = open
    .filter(({ begun, own }) => begun < jobsPerReader && own < BEGUN_MAX && (!isSpread || own > 0))
    .sort((left, right) => left.begun - right.begun)[0]
  if (!isSpread && readers.size < readersMax && (free?.begun ?? 1) > 0) return 'new'
  return free?.reader ?? null
}
