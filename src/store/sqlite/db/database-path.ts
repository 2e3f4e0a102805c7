/**
 * Refuses writes while the database file is moved, removed or replaced under the server. An open handle would go on
 * writing to the old file, and what was acknowledged would not be found at the next start. When the same file is back
 * at its path, nothing is lost, so writes are accepted again.
 */

import { statSync } from 'node:fs'
import { ApiError } from '../../../errors.ts'
import type { CommitPart } from '../write/group-commit.ts'

/** Text of the error's cause; the health check of the store compares it. */
export const DATABASE_MOVED = 'the database was moved or removed while the server was running'
/** Advice to an operator, for messages. */
export const MOVED_REMEDY = 'put it back or restart the server'

/**
 * Checks before each commit whether the path still leads to the file that it leads to now.
 *
 * @param path - of a database file that is open
 */
export function watchDatabasePath(path: string): CommitPart {
  const opened = identifyFile(path)
  return {
    beforeCommit() {
      if (identifyFile(path) === opened) return
      const message = `The store cannot be used: ${DATABASE_MOVED}; ${MOVED_REMEDY}.`
      throw new ApiError('store_unavailable', { message, cause: new Error(DATABASE_MOVED) })
    },
  }
}

/** Returns what no other file of the machine has while this one is open, or null when there is no file. */
export function identifyFile(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
