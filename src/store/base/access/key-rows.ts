/** Rows of API keys, and their reads, in SQLite and PostgreSQL alike. */
import { randomBytes } from 'node:crypto'
import { hashKey, isSameBytes, KEY_BYTES, renderKey } from '../../../domain/access/keys.ts'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'
import { KEYS_PER_PART, type NewKey, type StoredKey } from '../../api/access/keys.ts'
import { cursorBehind } from '../db/listing.ts'
import { all, first, type Steps } from '../db/steps.ts'
import { FIND_KEY, FIND_KEY_BY_ID, LIST_KEYS } from './keys.sql.ts'

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

interface KeyRow extends Omit<NewKeyRow, 'hash'> {
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

function toStoredKey(row: Omit<KeyRow, 'hash'>): StoredKey {
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

function toPrincipal(row: KeyRow): Principal {
  const { id, svc_user_id, svc_username, scopes, projects } = toStoredKey(row)
  return Object.freeze({ keyId: id, svc_user_id, svc_username, scopes, projects })
}

/** Returns the caller behind a live key, or null. */
export function* findPrincipal(secret: string): Steps<Principal | null> {
  const hash = hashKey(secret)
  const row = yield* first<KeyRow>(FIND_KEY, { hash })
  return row && isSameBytes(hash, row.hash) ? toPrincipal(row) : null
}

export function* findKey(id: string): Steps<StoredKey | null> {
  const row = yield* first<Omit<KeyRow, 'hash'>>(FIND_KEY_BY_ID, { id })
  return row ? toStoredKey(row) : null
}

/** Returns the keys behind one, or the first. */
export function* listKeys(after: StoredKey | undefined): Steps<StoredKey[]> {
  const place = cursorBehind(after ?? null, 'asc')
  const rows = yield* all<Omit<KeyRow, 'hash'>>(LIST_KEYS, { ...place, limit: KEYS_PER_PART })
  return rows.map(toStoredKey)
}
