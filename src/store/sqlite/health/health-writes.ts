/** The write that proves that the database accepts writes. */
import type { Connection } from '../db/connection.ts'

export function createHealthWrites(db: Connection) {
  return {
    /** Writes a number in the header of the database file that nothing else uses. */
    prove_writable: (_input: null): void => void db.pragma('user_version = 0'),
  }
}
