/**
 * The caller's side of the writer: sends it writes by name, limits how many may wait, and restarts it after a fault.
 * It is a thread, or inline when no other connection can open the database.
 */
import { extname } from 'node:path'
import { ApiError } from '../../../errors.ts'
import {
  createInlineThread,
  startThread,
  type Thread,
  ThreadLostError,
  type ThreadOptions,
} from '../../../threads/thread.ts'
import type { WriteMetrics } from '../../api/metrics.ts'
import { sizeOf } from '../../base/db/sizes.ts'
import type { Connection } from '../db/connection.ts'
import type { Committed } from './group-commit.ts'
import { createWriterServer, type WriterData, type WriterRequest } from './writer-serve.ts'
import type { Writes } from './writes.ts'

const ENTRY = new URL(`./writer-entry${extname(import.meta.url)}`, import.meta.url)
/** Limit: memory for new objects, most of which die with the commit; the rest are Node's defaults. */
const MEMORY = { maxYoungGenerationSizeMb: 8 }

type WriterThread = Thread<WriterRequest, unknown>
type WriterEvents = Pick<ThreadOptions<Committed>, 'onNotice' | 'onLost'>

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
  open(events: WriterEvents): WriterThread
  /** Writes that may wait. */
  readonly queueMax: number
  /** Bytes of writes that may wait, by sizeOf; one alone may be larger. */
  readonly queueBytesMax: number
  /** Limit: the time to drain and close, milliseconds. */
  readonly closeMs: number
  /** Called after each commit. */
  onCommit?(committed: Committed): void
}

/** @param entry - the entry module of the thread; tests pass their own */
export function openWriterThread(
  data: WriterData,
  events: WriterEvents,
  entry = ENTRY,
): WriterThread {
  return startThread<WriterRequest, unknown, Committed>(entry, { data, memory: MEMORY, ...events })
}

/** Serves writes on the caller's connection, and closes it at the end. */
export function openInlineWrites(db: Connection, events: WriterEvents): WriterThread {
  return createInlineThread<WriterRequest, unknown, Committed>(
    (notify) => createWriterServer(db, notify),
    events,
  )
}

export function createWriter(options: WriterOptions): Writer {
  const { queueMax, queueBytesMax, closeMs, onCommit } = options
  let waiting = 0
  let waitingBytes = 0
  let refused = 0
  let isClosing = false
  let onEmpty: () => void = () => undefined
  /** Time of `performance.now()`. */
  let closeByMs = Number.POSITIVE_INFINITY
  let thread: WriterThread | null = open()

  function open(): WriterThread {
    const opened = options.open({
      ...(onCommit && { onNotice: onCommit }),
      onLost() {
        if (thread === opened) thread = null
      },
    })
    return opened
  }

  /** A write may be stored when the writer dies; parts of calls can be sent again. */
  async function call(request: WriterRequest, bytes: number): Promise<never> {
    waiting += 1
    waitingBytes += bytes
    try {
      thread ??= open()
      return (await thread.call(request)) as never
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
      throw new ApiError('store_unavailable', { cause: error, retryAfterS: 1 })
    } finally {
      waiting -= 1
      waitingBytes -= bytes
      if (waiting === 0) onEmpty()
    }
  }

  return {
    async run(name, input, { isUnacknowledged = false } = {}) {
      if (isClosing) throw new ApiError('server_draining')
      const bytes = sizeOf(input)
      const fits = waiting < queueMax && waitingBytes + bytes <= queueBytesMax
      if (!fits && waiting > 0) {
        refused += 1
        throw new ApiError('server_overloaded', { retryAfterS: 1 })
      }
      return call({ name, input, isUnacknowledged, bytes }, bytes)
    },
    async copyTo(path, progress) {
      if (isClosing) throw new ApiError('server_draining')
      return call({ copyTo: path, progress }, 0)
    },
    async drain() {
      isClosing = true
      closeByMs = performance.now() + closeMs
      // Does not wait for the thread: the disk may block it for any time.
      const timer = setTimeout(() => thread?.terminate(), closeMs)
      if (waiting > 0) {
        await new Promise<void>((resolve) => {
          onEmpty = resolve
        })
      }
      clearTimeout(timer)
    },
    async close() {
      await thread?.close(Math.max(0, closeByMs - performance.now()))
    },
    figures: () => ({ store: 'sqlite', waiting, waitingBytes, refused }),
  }
}
