/**
 * Runs all waiting writes in one transaction. The promise of a write settles only when the commit that contains it
 * is on the disk.
 */
import { ApiError } from '../../../errors.ts'
import { BUSY_TIMEOUT_MS, type Connection } from '../db/connection.ts'
import { isLocked, toStoreError } from '../db/store-error.ts'

/**
 * Limits of one transaction, so that no acknowledgement waits long for the writes of others: writes, their bytes, and
 * milliseconds after which no further write joins.
 */
const BATCH_MAX = 1000
const BATCH_BYTES_MAX = 4 * 1024 * 1024
const BATCH_MS_MAX = 20
/** Milliseconds between two attempts while another process writes to the database. */
const LOCKED_RETRY_MS = 10

export interface CommitOptions {
  /**
   * The write is acknowledged to nobody, so its commit need not wait for the disk, which gets it with the next
   * checkpoint. It survives a crash of the process, but may be lost with the power before that.
   */
  readonly isUnacknowledged?: boolean
  /** Its share of BATCH_BYTES_MAX; default 0. */
  readonly bytes?: number
}

interface Waiting extends CommitOptions {
  readonly apply: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** The result of one write of a transaction. */
type Outcome = { readonly value: unknown } | { readonly error: unknown }

export interface GroupCommitOptions {
  /** How long writes wait for another process that writes; default: as long as a statement waits. */
  readonly lockedMs?: number
  /** Milliseconds after which no further write joins a transaction. */
  readonly batchMs?: number
  /** Blocks this thread until the log has room for a transaction. */
  awaitRoom?(): void
  /** Called after each commit, before its writes settle. */
  onCommit?(committed: Committed): void
}

/** A commit: its writes, failed ones included, and its duration. */
export interface Committed {
  readonly writes: number
  readonly ms: number
}

/** A participant in transactions: observes the writes, and writes itself after them. */
export interface CommitPart {
  /** A transaction begins; the previous one may have failed. */
  begin?(): void
  beginWrite?(): void
  /** The last write has failed; it alone is undone. */
  undoWrite?(): void
  /** Called inside the transaction, after its writes. An error fails all of them. */
  beforeCommit?(): void
}

export interface GroupCommit {
  /**
   * Runs a write inside the next shared transaction. If it throws, that write alone is undone and rejects.
   *
   * @param apply - synchronous; the promise resolves to its result
   * @throws ApiError store_unavailable when the commit fails, server_draining after close
   */
  write<T>(apply: () => T, options?: CommitOptions): Promise<T>
  /** Adds a participant to all later transactions. */
  join(part: CommitPart): void
  /** Commits the waiting writes and refuses later ones. */
  close(): void
}

export function createGroupCommit(db: Connection, options: GroupCommitOptions = {}): GroupCommit {
  const { lockedMs = BUSY_TIMEOUT_MS, batchMs = BATCH_MS_MAX, awaitRoom, onCommit } = options
  const queue: Waiting[] = []
  const parts: CommitPart[] = []
  let isScheduled = false
  let isClosed = false
  const chooseSync = createSyncChoice(db)
  /** When another process was first found writing, by `performance.now()`; null: none. */
  let lockedSinceMs: number | null = null

  const runOne = db.transaction((apply: () => unknown) => apply())

  function applyAlone({ apply }: Waiting): Outcome {
    for (const part of parts) part.beginWrite?.()
    try {
      return { value: runOne(apply) }
    } catch (error) {
      // SQLite has already undone everything when the disk is full or broken.
      if (!db.inTransaction) throw error
      for (const part of parts) part.undoWrite?.()
      return { error }
    }
  }

  /** Runs waiting writes up to the limits, at least one. */
  const runBatch = db.transaction((outcomes: Outcome[]) => {
    const endMs = performance.now() + batchMs
    for (const part of parts) part.begin?.()
    let bytes = 0
    for (const waiting of queue) {
      outcomes.push(applyAlone(waiting))
      bytes += waiting.bytes ?? 0
      const isFull = outcomes.length === BATCH_MAX || bytes >= BATCH_BYTES_MAX
      if (isFull || performance.now() >= endMs) break
    }
    for (const part of parts) part.beforeCommit?.()
  })

  /** Schedules a retry of all waiting writes; returns false when they have waited too long. */
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
      onCommit?.({ writes: outcomes.length, ms: performance.now() - beganMs })
      settle(queue.splice(0, outcomes.length), outcomes)
    } catch (error) {
      if (waitForLock(error)) return
      lockedSinceMs = null
      const failed = queue.splice(0, outcomes.length || BATCH_MAX)
      for (const { reject } of failed) reject(toStoreError(error))
    }
    schedule()
  }

  /** Runs after the messages of this turn are read, so that their writes share the commit. */
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

/** Skips the sync of batches that nobody waits for. A later synced commit also syncs what they left in the log. */
function createSyncChoice(db: Connection): (batch: readonly Waiting[]) => void {
  let waitsForDisk = true
  return (batch) => {
    const isNeeded = batch.some(({ isUnacknowledged }) => isUnacknowledged !== true)
    if (isNeeded !== waitsForDisk) db.pragma(`synchronous = ${isNeeded ? 'FULL' : 'NORMAL'}`)
    waitsForDisk = isNeeded
  }
}

/** Fails at once on a lock: SQLite would wait for it inside the call and block this thread. */
function runAtOnce(db: Connection, run: () => void): void {
  db.pragma('busy_timeout = 0')
  try {
    run()
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}
