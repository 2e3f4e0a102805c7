/**
 * One transaction for all writes that wait at the same time: each write's promise settles after the
 * commit that holds it is on the disk. Never acknowledges before.
 */
import { ApiError } from '../../../errors.ts'
import { BUSY_TIMEOUT_MS, type Connection } from '../db/connection.ts'
import { isLocked, toStoreError } from '../db/store-error.ts'

/**
 * Limits of one transaction, so that no acknowledgement waits long for the writes of others: writes, their bytes, and
 * milliseconds after which no further write is taken in.
 */
const BATCH_MAX = 1000
const BATCH_BYTES_MAX = 4 * 1024 * 1024
const BATCH_MS_MAX = 20
/** How often a database is tried again that another process writes to, milliseconds. */
const LOCKED_RETRY_MS = 10

export interface CommitOptions {
  /**
   * Nobody is told that it is stored: its commit need not wait for the disk, which has it with the next
   * checkpoint. It outlives the end of the process, though not always a loss of power in that time.
   */
  readonly isUnacknowledged?: boolean
  /** What it counts for in BATCH_BYTES_MAX; default 0. */
  readonly bytes?: number
}

interface Waiting extends CommitOptions {
  readonly apply: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** What became of one write of a transaction. */
type Outcome = { readonly value: unknown } | { readonly error: unknown }

export interface GroupCommitOptions {
  /** How long writes wait for another process that writes; default: as long as a statement does. */
  readonly lockedMs?: number
  /** Milliseconds after which a transaction takes in no further write. */
  readonly batchMs?: number
  /** Holds up this thread until the log has room for a transaction. */
  awaitRoom?(): void
  /** A transaction has ended; its writes are told of next. @param ms - that it took; null: it failed */
  onEnd?(ms: number | null): void
}

/** Takes part in transactions: follows the writes, and writes itself after them. */
export interface CommitPart {
  /** A transaction begins; the one before may have failed. */
  begin(): void
  beginWrite(): void
  /** The write that began last has failed and is undone, alone. */
  undoWrite(): void
  /** Inside the transaction, after its writes. What it throws fails them all. */
  beforeCommit(): void
}

export interface GroupCommit {
  /**
   * Runs a write inside the next shared transaction. What it throws undoes and fails that write alone.
   *
   * @param apply - synchronous; its value is the promise's value
   * @throws ApiError store_unavailable when the commit fails, server_draining after close
   */
  write<T>(apply: () => T, options?: CommitOptions): Promise<T>
  /** Has somebody take part in every later transaction. */
  join(part: CommitPart): void
  /** Writes what waits; later writes are refused. */
  close(): void
}

export function createGroupCommit(db: Connection, options: GroupCommitOptions = {}): GroupCommit {
  const { lockedMs = BUSY_TIMEOUT_MS, batchMs = BATCH_MS_MAX, awaitRoom, onEnd } = options
  const queue: Waiting[] = []
  const parts: CommitPart[] = []
  let isScheduled = false
  let isClosed = false
  const chooseSync = createSyncChoice(db)
  /** When another process was first found writing, by `performance.now()`; null: none is. */
  let lockedSinceMs: number | null = null

  const runOne = db.transaction((apply: () => unknown) => apply())

  function applyAlone({ apply }: Waiting): Outcome {
    for (const part of parts) part.beginWrite()
    try {
      return { value: runOne(apply) }
    } catch (error) {
      // SQLite has already undone everything when the disk is full or broken.
      if (!db.inTransaction) throw error
      for (const part of parts) part.undoWrite()
      return { error }
    }
  }

  /** Takes writes in up to the limits, at least one. */
  const runBatch = db.transaction((outcomes: Outcome[]) => {
    const endMs = performance.now() + batchMs
    for (const part of parts) part.begin()
    let bytes = 0
    for (const waiting of queue) {
      outcomes.push(applyAlone(waiting))
      bytes += waiting.bytes ?? 0
      const isFull = outcomes.length === BATCH_MAX || bytes >= BATCH_BYTES_MAX
      if (isFull || performance.now() >= endMs) break
    }
    for (const part of parts) part.beforeCommit()
  })

  /** Has all tried again soon; false when it was for long enough. */
  function waitForLock(error: unknown): boolean {
    if (isClosed || !isLocked(error)) return false
    lockedSinceMs ??= performance.now()
    if (performance.now() - lockedSinceMs > lockedMs) return false
    isScheduled = true
    setTimeout(flush, LOCKED_RETRY_MS)
    return true
  }

  function flush(): void {
    isScheduled = false
    if (queue.length === 0) return
    const outcomes: Outcome[] = []
    const beganMs = performance.now()
    try {
      chooseSync(queue.slice(0, BATCH_MAX))
      if (!isClosed) awaitRoom?.()
      if (isClosed) runBatch.immediate(outcomes)
      else runAtOnce(db, () => runBatch.immediate(outcomes))
      lockedSinceMs = null
      onEnd?.(performance.now() - beganMs)
      settle(queue.splice(0, outcomes.length), outcomes)
    } catch (error) {
      if (waitForLock(error)) return
      lockedSinceMs = null
      onEnd?.(null)
      const failed = queue.splice(0, outcomes.length || BATCH_MAX)
      for (const { reject } of failed) reject(toStoreError(error))
    }
    schedule()
  }

  /** After the messages of this turn were read, so that their writes share the commit. */
  function schedule(): void {
    if (isScheduled || queue.length === 0) return
    isScheduled = true
    setImmediate(flush)
  }

  return {
    write(apply, writeOptions) {
      if (isClosed) return Promise.reject(new ApiError('server_draining'))
      return new Promise((resolve, reject) => {
        queue.push({ ...writeOptions, apply, resolve, reject })
        schedule()
      })
    },
    join(part) {
      parts.push(part)
    },
    close() {
      isClosed = true
      while (queue.length > 0) flush()
    },
  }
}

function settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
  outcomes.forEach((outcome, index) => {
    const waiting = batch[index] as Waiting
    if ('error' in outcome) waiting.reject(toStoreError(outcome.error))
    else waiting.resolve(outcome.value as never)
  })
}

/** A later commit that waits for the disk takes with it what earlier ones left in the log. */
function createSyncChoice(db: Connection): (batch: readonly Waiting[]) => void {
  let waitsForDisk = true
  return (batch) => {
    const isNeeded = batch.some(({ isUnacknowledged }) => isUnacknowledged !== true)
    if (isNeeded !== waitsForDisk) db.pragma(`synchronous = ${isNeeded ? 'FULL' : 'NORMAL'}`)
    waitsForDisk = isNeeded
  }
}

/** SQLite would wait for a lock inside the call, and with it all else that this thread does. */
function runAtOnce(db: Connection, run: () => void): void {
  db.pragma('busy_timeout = 0')
  try {
    run()
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}
