/** Exactly-once inserts: one with an unknown outcome is retried with the same token until the outcome is known. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse, Row } from './client.ts'
import { isPassing } from './store-error.ts'

/** Waits between attempts: the first, and the longest. */
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 2_000

export interface Inserts {
  /** Greater than any before: microseconds, so that those of a process that starts later are greater, too. */
  nextVersion(): number
  /**
   * Resolves when the rows are on disk, once.
   *
   * @param beforeRetry - awaited before each further attempt
   * @throws permanent errors, and after `stop` any error
   */
  insert(table: string, rows: readonly Row[], beforeRetry?: () => Promise<void>): Promise<void>
  /** Stops all retries. */
  stop(): void
}

export function createInserts(db: Pick<ClickHouse, 'insert'>): Inserts {
  const stopping = new AbortController()
  const { signal } = stopping
  let lastVersion = 0

  return {
    nextVersion() {
      lastVersion = Math.max(lastVersion + 1, Date.now() * 1000)
      return lastVersion
    },
    async insert(table, rows, beforeRetry) {
      if (rows.length === 0) return
      const token = randomUUID()
      for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(2 * waitMs, RETRY_MS_MAX)) {
        try {
          return await db.insert(table, rows, token)
        } catch (error) {
          if (!isPassing(error) || signal.aborted) throw error
          await sleep(waitMs, undefined, { signal }).catch(() => undefined)
          await beforeRetry?.()
        }
      }
    },
    stop: () => stopping.abort(),
  }
}
