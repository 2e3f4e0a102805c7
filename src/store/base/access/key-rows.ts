/** Rows of API keys, in this store and others. */
import { randomBytes } from 'node:crypto'
import { hashKey, KEY_BYTES, renderKey } from '../../../domain/access/keys.ts'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'
import { KEYS_PER_PART, type NewKey, type StoredKey } from '../../api/access/keys.ts'
import { placeBefore } from '../db/listing.ts'

/** A row of `keys` for a new key. */
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

export interface KeyRow extends Omit<NewKeyRow, 'hash'> {
  readonly hash: Buffer
  readonly revoked_at_us: number | null
}

/** Creates a key: its row, and its text, which is not stored. */
export function makeKey(key: NewKey, id: string, created_at_us: number) {
  const { svc_user_id, svc_username, scopes, projects } = key
  const secret = renderKey(randomBytes(KEY_BYTES))
  const row: NewKeyRow = {
    id,
    hash: hashKey(secret),
    svc_user_id,
    svc_username,
    created_at_us,
    scopes_json: JSON.stringify(scopes),
    projects_json: JSON.stringify(projects),
  }
  return { row, secret }
}

export function toStoredKey(row: Omit<KeyRow, 'hash'>): StoredKey {
  return {
    id: row.id,
    svc_user_id: row.svc_user_id,
    svc_username: row.svc_username,
    scopes: JSON.parse(row.scopes_json) as Scope[],
    projects: JSON.parse(row.projects_json) as string[],
    created_at_us: row.created_at_us,
    revoked_at_us: row.revoked_at_us,
  }
}

export function toPrincipal(row: KeyRow): Principal {
  const { id, svc_user_id, svc_username, scopes, projects } = toStoredKey(row)
  return Object.freeze({ keyId: id, svc_user_id, svc_username, scopes, projects })
}

/** What a statement needs to list the keys behind one, or the first. */
export function partBehind(after: StoredKey | undefined) {
  const place =
    after === undefined ? placeBefore('asc') : { after_us: after.created_at_us, after_id: after.id }
  return { ...place, limit: KEYS_PER_PART }
}
