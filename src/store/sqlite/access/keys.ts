/** API keys in SQLite, with a short cache so that authentication costs no statement. */
import { randomBytes } from 'node:crypto'
import { hashKey, isSameBytes, KEY_BYTES, renderKey } from '../../../domain/access/keys.ts'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore, NewKey, StoredKey } from '../../api/access/keys.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'
import type { NewKeyRow } from './key-writes.ts'
import { FIND_KEY, LIST_KEYS } from './keys.sql.ts'

/** Limit: how long a revoked key may still be taken. */
const CACHE_TTL_MS = 1000
/** Limit: 10,000 entries of about 300 bytes. */
const CACHE_ENTRIES_MAX = 10_000

interface KeyRow extends Omit<NewKeyRow, 'hash'> {
  readonly hash: Buffer
  readonly revoked_at_us: number | null
}

/**
 * @param db - for what is read here
 */
export function createKeyStore(db: Connection, writes: Writes): KeyStore {
  const findKey = db.prepare(FIND_KEY)
  const listKeys = db.prepare(LIST_KEYS)
  const newId = createOrderedIds(readClockUs, randomBytes)
  /** By the key's text, since hashing it costs more than all else here; forgotten as a whole, and soon. */
  const cache = new Map<string, Principal>()
  let cachedUntil = 0

  function lookUp(hash: Buffer): Principal | null {
    try {
      const row = findKey.get({ hash }) as KeyRow | undefined
      return row && isSameBytes(hash, row.hash) ? toPrincipal(row) : null
    } catch (error) {
      throw toStoreError(error)
    }
  }

  return {
    async createKey(key: NewKey) {
      const id = newId()
      const secret = renderKey(randomBytes(KEY_BYTES))
      await writes.run('create_key', {
        id,
        hash: hashKey(secret),
        svc_user_id: key.svc_user_id,
        svc_username: key.svc_username,
        scopes_json: JSON.stringify(key.scopes),
        projects_json: JSON.stringify(key.projects),
        created_at_us: readClockUs(),
      })
      return { id, secret }
    },
    async findPrincipal(secret) {
      const now = performance.now()
      if (now >= cachedUntil || cache.size >= CACHE_ENTRIES_MAX) {
        cache.clear()
        cachedUntil = now + CACHE_TTL_MS
      }
      const cached = cache.get(secret)
      if (cached !== undefined) return cached
      const principal = lookUp(hashKey(secret))
      if (principal !== null) cache.set(secret, principal)
      return principal
    },
    async listKeys() {
      try {
        return (listKeys.all() as KeyRow[]).map(toStoredKey)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async revokeKey(id) {
      const wasLive = await writes.run('revoke_key', { id, revoked_at_us: readClockUs() })
      cache.clear()
      return wasLive
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}

function toStoredKey(row: KeyRow): StoredKey {
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
