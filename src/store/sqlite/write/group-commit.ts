/**
 * One transaction for all writes that wait at the same time: each write's promise settles after the
 * commit that holds it is on the disk. Never acknowledges before.
 */
import { ApiError } from '../../../errors.ts'
import { BUSY_TIMEOUT_MS, type Connection } from '../db/connection.ts'
import { isLocked, toStoreError } from '../db/store-error.ts'

/** Limit: writes of one transaction, so that one commit stays short. */
const BATCH_MAX = 1000
/** How often a database is tried again that another process writes to, milliseconds. */
const LOCKED_RETRY_MS = 10

export interface WriteOptions {
  /**
   * Nobody is told that it is stored: its commit need not wait for the disk, which has it with the next
   * checkpoint. It outlives the end of the process, though not always a loss of power in that time.
   */
  readonly isUnacknowledged?: boolean
}

interface Waiting extends WriteOptions {
  readonly apply: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommitOptions {
  /** Writes that may wait; default: as many as come. */
  readonly queueMax?: number
  /** How long writes wait for another process that writes; default: as long as a statement does. */
  readonly lockedMs?: number
  /** Called after each commit. */
  onCommit?(): void
  /**
   * Runs the next transaction when no other connection writes; by default after the sockets of this turn
   * were read, so that their writes share the commit.
   */
  takeTurn?(run: () => void): void
}

export interface GroupCommit {
  /**
   * Runs a write inside the next shared transaction. What it throws undoes and fails that write alone.
   *
   * @param apply - synchronous; its value is the promise's value
   * @throws ApiError server_overloaded when too many writes wait, store_unavailable when the commit fails
   */
  write<T>(apply: () => T, options?: WriteOptions): Promise<T>
  /**
   * Has `hook` run inside of every later transaction, after its writes. What it throws fails them all.
   */
  beforeCommit(hook: () => void): void
  /** Writes what waits; later writes are refused. */
  close(): void
}

export function createGroupCommit(db: Connection, options: GroupCommitOptions = {}): GroupCommit {
  const { queueMax = Number.POSITIVE_INFINITY, onCommit, takeTurn = setImmediate } = options
  const { lockedMs = BUSY_TIMEOUT_MS } = options
  let queue: Waiting[] = []
  let isScheduled = false
  let isClosed = false
  /** When another process was first found writing, by `performance.now()`; null: none is. */
  let lockedSinceMs: number | null = null

  const hooks: (() => void)[] = []
  const runOne = db.transaction((apply: () => unknown) => apply())
  const runBatch = db.transaction((batch: readonly Waiting[]) => {
    const results = batch.map(({ apply }) => {
      try {
        return { value: runOne(apply) }
      } catch (error) {
        // SQLite has already undone everything when the disk is full or broken.
        if (!db.inTransaction) throw error
        return { error }
      }
    })
    for (const hook of hooks) hook()
    return results
  })

  let waitsForDisk = true

  /** A later commit that waits for the disk takes with it what earlier ones left in the log. */
  function chooseSync(batch: readonly Waiting[]): void {
    const isNeeded = batch.some(({ isUnacknowledged }) => isUnacknowledged !== true)
    if (isNeeded !== waitsForDisk) db.pragma(`synchronous = ${isNeeded ? 'FULL' : 'NORMAL'}`)
    waitsForDisk = isNeeded
  }

  /** SQLite would wait inside of the call, and with it all else that this thread does. */
  function runAtOnce(batch: readonly Waiting[]): ReturnType<typeof runBatch> {
    db.pragma('busy_timeout = 0')
    try {
      return runBatch.immediate(batch)
    } finally {
      db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    }
  }

  /** Has the batch tried again soon; false when it was for long enough. */
  function waitForLock(batch: readonly Waiting[], error: unknown): boolean {
    if (isClosed || !isLocked(error)) return false
    lockedSinceMs ??= performance.now()
    if (performance.now() - lockedSinceMs > lockedMs) return false
    queue = [...batch, ...queue]
    isScheduled = true
    setTimeout(() => takeTurn(flush), LOCKED_RETRY_MS)
    return true
  }

  function flush(): void {
    isScheduled = false
    const batch = queue.slice(0, BATCH_MAX)
    queue = queue.slice(BATCH_MAX)
    if (batch.length === 0) return
    try {
      chooseSync(batch)
      const results = isClosed ? runBatch.immediate(batch) : runAtOnce(batch)
      lockedSinceMs = null
      if (queue.length > 0) schedule()
      results.forEach((result, index) => {
        const waiting = batch[index] as Waiting
        if ('error' in result) waiting.reject(toStoreError(result.error))
        else waiting.resolve(result.value as never)
      })
      onCommit?.()
    } catch (error) {
      if (waitForLock(batch, error)) return
      lockedSinceMs = null
      if (queue.length > 0) schedule()
      for (const waiting of batch) waiting.reject(toStoreError(error))
    }
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    takeTurn(flush)
  }

  return {
    write(apply, options) {
      if (isClosed) return Promise.reject(new ApiError('server_draining'))
      if (queue.length >= queueMax) {
        return Promise.reject(new ApiError('server_overloaded', { retryAfterS: 1 }))
      }
      return new Promise((resolve, reject) => {
        queue.push({ ...options, apply, resolve, reject })
        schedule()
      })
    },
    beforeCommit(hook) {
      hooks.push(hook)
    },
    close() {
      isClosed = true
      while (queue.length > 0) flush()
    },
  }
}
