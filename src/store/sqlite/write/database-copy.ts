/**
 * A copy of the database, made a few pages at a time between the transactions of the connection that writes.
 *
 * Why: a copy by any other connection begins anew with each commit, or holds on to the log for as long as it takes. What
 * this connection commits meanwhile, SQLite writes to both files.
 */
import type { Connection } from '../db/connection.ts'
import type { LogGate } from '../db/log-gate.ts'

/** Pages of a turn, 1 MB: a commit waits that much longer. */
const PAGES_A_TURN = 256
/** Limit: how often the pages of the database may be copied, should others write to it and have the copy begin anew. */
const ROUNDS_MAX = 4

const STOPPED = 0
const DONE = 1
const TOTAL = 2

/** What a copy tells, and how it is stopped, from any thread. */
interface CopyProgress {
  stop(): void
  isStopped(): boolean
  /** In pages; nothing before it has begun. */
  tell(done: number, total: number): void
  read(): { readonly done: number; readonly total: number }
}

export function createCopyMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)
}

export function openCopyProgress(memory: SharedArrayBuffer): CopyProgress {
  const words = new Int32Array(memory)
  return {
    stop: () => void Atomics.store(words, STOPPED, 1),
    isStopped: () => Atomics.load(words, STOPPED) === 1,
    tell(done, total) {
      Atomics.store(words, DONE, done)
      Atomics.store(words, TOTAL, total)
    },
    read: () => ({ done: Atomics.load(words, DONE), total: Atomics.load(words, TOTAL) }),
  }
}

/**
 * @param path - a file that is empty or missing, in a directory that exists
 * @param memory - of createCopyMemory
 * @returns why it failed, or null. Never rejects
 */
export async function copyDatabase(
  db: Connection,
  gate: LogGate,
  path: string,
  memory: SharedArrayBuffer,
): Promise<string | null> {
  const progress = openCopyProgress(memory)
  let turns = 0
  let isWhole = false
  gate.setCopied(true)
  try {
    const { totalPages } = await db.backup(path, {
      progress({ totalPages, remainingPages }) {
        // Pages given back meanwhile: SQLite has ended, and the driver waits for exactly none to be left.
        isWhole = remainingPages < 0
        if (isWhole) throw new Error('it is whole')
        turns += 1
        progress.tell(totalPages - remainingPages, totalPages)
        if (progress.isStopped()) throw new Error('it was stopped')
        const isEndless = turns * PAGES_A_TURN > ROUNDS_MAX * (totalPages + PAGES_A_TURN)
        if (isEndless) throw new Error('other programs write to the database all the time')
        return PAGES_A_TURN
      },
    })
    // A target that was locked before anything was copied looks like an end.
    return totalPages > 0 ? null : `cannot write ${path}`
  } catch (error) {
    if (isWhole) return null
    return error instanceof Error ? error.message : String(error)
  } finally {
    gate.setCopied(false)
  }
}
