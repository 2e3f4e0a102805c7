/** The write that proves that the database takes writes. */
import type { Connection } from '../db/connection.ts'

export function createHealthWrites(db: Connection) {
  return {
    /** Writes a number of the file's own head, which nothing else uses. */
    prove_writable: (_input: null): void => void db.pragma('user_version = 0'),
  }
}
