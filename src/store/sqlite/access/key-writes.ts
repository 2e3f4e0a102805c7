/** The writes of API keys. */

import type { NewKeyRow } from '../../base/access/key-rows.ts'
import { INSERT_KEY, REVOKE_KEY } from '../../base/access/keys.sql.ts'
import type { Connection } from '../db/connection.ts'

export function createKeyWrites(db: Connection) {
  const insertKey = db.prepare(INSERT_KEY)
  const revokeKey = db.prepare(REVOKE_KEY)
  return {
    create_key: (key: NewKeyRow): void => void insertKey.run(key),
    /** Revokes a key; returns whether there was a live one. */
    revoke_key: (revocation: { readonly id: string; readonly revoked_at_us: number }): boolean =>
      revokeKey.run(revocation).changes > 0,
  }
}
