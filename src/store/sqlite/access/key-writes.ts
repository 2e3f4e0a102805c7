/** The writes of API keys. */
import type { Connection } from '../db/connection.ts'
import { INSERT_KEY, REVOKE_KEY } from './keys.sql.ts'

/** A row of `keys` that is not revoked. */
export interface NewKeyRow {
  readonly id: string
  /** SHA-256 of the key. */
  readonly hash: Uint8Array
  readonly svc_user_id: string
  readonly svc_username: string
  readonly scopes_json: string
  readonly projects_json: string
  readonly created_at_us: number
}

export function createKeyWrites(db: Connection) {
  const insertKey = db.prepare(INSERT_KEY)
  const revokeKey = db.prepare(REVOKE_KEY)
  return {
    create_key: (key: NewKeyRow): void => void insertKey.run(key),
    /** Whether there was a live key. */
    revoke_key: (revocation: { readonly id: string; readonly revoked_at_us: number }): boolean =>
      revokeKey.run(revocation).changes > 0,
  }
}
