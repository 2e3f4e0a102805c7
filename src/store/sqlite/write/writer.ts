/**
 * The caller's side of the writer: sends it writes by name, batched per turn of the event loop, limits how many may
 * wait, and restarts the writer after a fault.
 */
import { ApiError } from '../../../errors.ts'
import { startGuardedThread } from '../../../threads/thread.ts'
import { toReplyError } from '../../../threads/thread-failure.ts'
import type { WriteMetrics } from '../../api/metrics.ts'
import { sizeOf } from '../../base/db/sizes.ts'
import type { Connection } from '../db/connection.ts'
import {
  createWriterServer,
  type WriteRequest,
  type WriteResult,
  type WriterReply,
  type WriterRequest,
} from './writer-serve.ts'
import type { Writes } from './writes.ts'

const ENTRY = new URL('./writer-entry.ts', import.meta.url)
/** Limit: memory for new objects, most of which die with the commit; the rest are Node's defaults. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8 }

/** Serves the writes: a thread, or the caller's own thread. */
interface WriterEnd {
  post(request: WriterRequest): void
  /** Resolves when it has ended, as it does after `close`. */
  readonly ended: Promise<void>
  /** Ends it without waiting for its writes. */
  terminate(): void
}

interface WriterListener {
  onReply(reply: WriterReply): void
  /** The writer has ended without having been closed. */
  onLost(cause: Error): void
}

export interface Writer extends Writes {
  /**
   * Copies the database to a file while writes continue. The copy shows the database as it was when the copy ended.
   *
   * @param progress - from createCopyMemory
   * @returns why it failed, or null
   * @throws ApiError server_draining; store_unavailable when the writer dies
   */
  copyTo(path: string, progress: SharedArrayBuffer): Promise<string | null>
  /** Refuses later writes. Resolves when all waiting writes have settled, committed or not. */
  drain(): Promise<void>
  /** Must be called after `drain`. Resolves when the connection is closed or the time is up. */
  close(): Promise<void>
  figures(): WriteMetrics
}

interface WriterOptions {
  /** Starts the server of writes; called again after its loss. */
  open(listener: WriterListener): WriterEnd
  /** Writes that may wait. */
  readonly queueMax: number
  /** Bytes of writes that may wait, by sizeOf; one alone may be larger. */
  readonly queueBytesMax: number
  /** Limit: the time to drain and close, milliseconds. */
  readonly closeMs: number
  /** Called after each commit. @param ms - its duration; null: it failed, or there was none */
  onCommit(writes: number, ms: number | null): void
}

export function createWriter(options: WriterOptions): Writer {
  const { queueMax, queueBytesMax, closeMs, onCommit } = options
  const answers = createStatementRunner()
  let gathered: WriteRequest[] = []
  let isClosing = false
  let refused = 0
  /** Time of `performance.now()`. */
  let closeByMs = Number.POSITIVE_INFINITY
  let end: WriterEnd | null = open()

  function open(): WriterEnd {
    const opened = options.open({
      onReply({ results, commitMs }) {
        onCommit(results.length, commitMs)
        results.forEach(answers.settle)
      },
      onLost(cause) {
        if (end === opened) end = null
        gathered = []
        answers.failAll(cause)
      },
    })
    return opened
  }

  /** Does not wait for the thread: the disk may block it for any time, and it cannot be terminated meanwhile. */
  function giveUp(): void {
    end?.terminate()
    answers.failAll(new Error('the writer did not end in time'))
  }

  function sendGathered(): void {
    if (gathered.length === 0) return
    end ??= open()
    end.post(gathered)
    gathered = []
  }

  return {
    run(name, input, { isUnacknowledged = false } = {}) {
      if (isClosing) return Promise.reject(new ApiError('server_draining'))
      const bytes = sizeOf(input)
      const isAlone = answers.count() === 0
      const fits = answers.count() < queueMax && answers.bytes() + bytes <= queueBytesMax
      if (!fits && !isAlone) {
        refused += 1
        return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 1 }))
      }
      const { id, promise } = answers.expect(bytes)
      gathered.push({ id, name, input, isUnacknowledged, bytes })
      // Runs after the sockets of this turn are read, so that their writes share one message.
      if (gathered.length === 1) setImmediate(sendGathered)
      return promise
    },
    copyTo(path, progress) {
      if (isClosing) return Promise.reject(new ApiError('server_draining'))
      const { id, promise } = answers.expect(0)
      end ??= open()
      end.post({ id, copyTo: path, progress })
      return promise
    },
    async drain() {
      isClosing = true
      closeByMs = performance.now() + closeMs
      sendGathered()
      const timer = setTimeout(giveUp, closeMs)
      await answers.allSettled()
      clearTimeout(timer)
    },
    async close() {
      const closing = end
      if (!closing) return
      end = null
      closing.post('close')
      const { promise: isLate, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, Math.max(0, closeByMs - performance.now()))
      await Promise.race([closing.ended, isLate])
      clearTimeout(timer)
      closing.terminate()
    },
    figures: () => ({
      store: 'sqlite',
      waiting: answers.count(),
      waitingBytes: answers.bytes(),
      refused,
    }),
  }
}

interface Expected extends PromiseWithResolvers<never> {
  readonly bytes: number
}

/** The promises of unanswered writes. */
function createStatementRunner() {
  const pending = new Map<number, Expected>()
  let pendingBytes = 0
  let lastId = 0
  let onEmpty: () => void = () => undefined

  function take(id: number): Expected | undefined {
    const expected = pending.get(id)
    pending.delete(id)
    pendingBytes -= expected?.bytes ?? 0
    if (pending.size === 0) onEmpty()
    return expected
  }

  return {
    count: () => pending.size,
    bytes: () => pendingBytes,
    expect(bytes: number) {
      lastId += 1
      pendingBytes += bytes
      const expected = Promise.withResolvers<never>()
      pending.set(lastId, { ...expected, bytes })
      return { id: lastId, promise: expected.promise }
    },
    settle({ id, value, ...failure }: WriteResult): void {
      const expected = take(id)
      const error = toReplyError(failure)
      if (error) expected?.reject(error)
      else expected?.resolve(value as never)
    },
    /** The writes may be stored or not; parts of calls can be sent again. */
    failAll(cause: Error): void {
      for (const id of [...pending.keys()]) {
        take(id)?.reject(new ApiError('store_unavailable', { cause, retryAfterS: 1 }))
      }
    },
    allSettled(): Promise<void> {
      if (pending.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        onEmpty = resolve
      })
    },
  }
}

/** The `workerData` of the thread. */
export interface WriterData {
  readonly dataDir: string
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
}

/** Starts the thread. @param entry - its entry module; tests pass their own */
export function openWriterThread(
  workerData: WriterData,
  { onReply, onLost }: WriterListener,
  entry = ENTRY,
): WriterEnd {
  const thread = startGuardedThread(entry, { workerData, resourceLimits: RESOURCE_LIMITS })
  const { worker } = thread
  const ended = Promise.withResolvers<void>()
  let isClosing = false
  let isLost = false

  function lose(cause: Error): void {
    if (isLost || isClosing) return
    isLost = true
    onLost(cause)
  }

  worker.on('message', (reply: WriterReply) => onReply(reply))
  worker.on('error', lose)
  worker.on('exit', () => {
    ended.resolve()
    lose(new Error('the writer ended'))
  })
  return {
    ended: ended.promise,
    post(request) {
      isClosing ||= request === 'close'
      worker.postMessage(request)
    },
    terminate: thread.endByForce,
  }
}

/** Serves writes on the caller's connection and closes it at the end; clones inputs and results as messages are. */
export function openInlineWrites(db: Connection, { onReply }: WriterListener): WriterEnd {
  const receive = createWriterServer(db, (reply) => onReply(structuredClone(reply)))
  return {
    ended: Promise.resolve(),
    post: (request: WriterRequest) => receive(structuredClone(request)),
    terminate: () => undefined,
  }
}
