/**
 * Copies the database a few pages at a time, between the transactions of the writing connection.
 *
 * Why: a copy by any other connection restarts with each commit, or pins the log until it is done. What this
 * connection commits meanwhile, SQLite writes to both files.
 */
import type { Connection } from '../db/connection.ts'
import type { WalGate } from '../db/wal-gate.ts'

/** Pages copied in one step, 1 MB: a commit waits that much longer. */
const PAGES_A_TURN = 256
/** Limit: how many times the size of the database may be copied, should other writers keep restarting the copy. */
const ROUNDS_MAX = 4

const STOPPED = 0
const DONE = 1
const TOTAL = 2

/** The progress of a copy and its stop flag, for use from any thread. */
interface CopyProgress {
  stop(): void
  isStopped(): boolean
  /** In pages; 0 before the copy has begun. */
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
 * @param path - an empty or missing file in an existing directory
 * @param memory - from createCopyMemory
 * @returns why the copy failed, or null. Never rejects
 */
export async function copyDatabase(
  db: Connection,
  gate: WalGate,
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
        // The database shrank meanwhile: SQLite is done, but the driver waits for exactly 0 remaining pages.
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
    // A target that was locked before the first page looks like a finished copy.
    return totalPages > 0 ? null : `cannot write ${path}`
  } catch (error) {
    if (isWhole) return null
    return error instanceof Error ? error.message : String(error)
  } finally {
    gate.setCopied(false)
  }
}
