/** API keys in SQLite and PostgreSQL alike, with a short cache: a key revoked by another process is refused within a second. */
import { randomBytes } from 'node:crypto'
import { hashKey, isSameBytes, KEY_BYTES, renderKey } from '../../../domain/access/keys.ts'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import { KEYS_PER_PART, type KeyStore, type NewKey, type StoredKey } from '../../api/access/keys.ts'
import { cursorBehind } from '../db/listing.ts'
import { all, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { FIND_KEY, FIND_KEY_BY_ID, INSERT_KEY, LIST_KEYS, REVOKE_KEY } from './keys.sql.ts'

interface KeyRevocation {
  readonly id: string
  readonly revoked_at_us: number
}

export const KEY_WRITES = {
  *create_key(key: NewKeyRow): Steps<void> {
    yield* run(INSERT_KEY, key)
  },
  /** Revokes a key; returns whether there was a live one. */
  *revoke_key(revocation: KeyRevocation): Steps<boolean> {
    return (yield* run(REVOKE_KEY, revocation)) > 0
  },
}

export function createKeyStore({ read, write }: StepRuns<typeof KEY_WRITES>): KeyStore {
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache((secret) => read(findPrincipal(secret)))

  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await write('create_key', row)
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    findKey: (id) => read(findKey(id)),
    listKeys: (after) => read(listKeys(after)),
    async revokeKey(id) {
      const wasLive = await write('revoke_key', { id, revoked_at_us: readClockUs() })
      cache.clear()
      return wasLive
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}

/** Limit: how long a revoked key may still be accepted. */
const CACHE_TTL_MS = 1000
/** Limit: 10,000 entries of about 300 bytes. */
const CACHE_ENTRIES_MAX = 10_000

type Found = Promise<Principal | null>

interface PrincipalCache {
  /** Returns the principal of a key, from the cache or from a lookup. */
  find(secret: string): Found
  /** Clears the cache. */
  clear(): void
}

/** @param lookUp - finds the principal by the text of the key; its errors are passed on and not cached */
function createPrincipalCache(lookUp: (secret: string) => Found): PrincipalCache {
  /** By the text of the key, since hashing it would cost more than the rest; cleared as a whole after a second. */
  let cache = new Map<string, Found>()
  let cachedUntil = 0

  return {
    async find(secret) {
      const now = performance.now()
      if (now >= cachedUntil || cache.size >= CACHE_ENTRIES_MAX) {
        cache = new Map()
        cachedUntil = now + CACHE_TTL_MS
      }
      const cached = cache.get(secret)
      if (cached !== undefined) return cached
      // Keeps the map: a late lookup must not change the map that has replaced it.
      const asked = cache
      const finding = lookUp(secret)
      asked.set(secret, finding)
      try {
        const principal = await finding
        if (principal === null) asked.delete(secret)
        return principal
      } catch (error) {
        asked.delete(secret)
        throw error
      }
    },
    clear() {
      cache = new Map()
    },
  }
}

/** A row of `keys` for a new key. */
interface NewKeyRow {
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
function makeKey(key: NewKey, id: string, created_at_us: number) {
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
function* findPrincipal(secret: string): Steps<Principal | null> {
  const hash = hashKey(secret)
  const row = yield* first<KeyRow>(FIND_KEY, { hash })
  return row && isSameBytes(hash, row.hash) ? toPrincipal(row) : null
}

function* findKey(id: string): Steps<StoredKey | null> {
  const row = yield* first<Omit<KeyRow, 'hash'>>(FIND_KEY_BY_ID, { id })
  return row ? toStoredKey(row) : null
}

/** Returns the keys behind one, or the first. */
function* listKeys(after: StoredKey | undefined): Steps<StoredKey[]> {
  const place = cursorBehind(after ?? null, 'asc')
  const rows = yield* all<Omit<KeyRow, 'hash'>>(LIST_KEYS, { ...place, limit: KEYS_PER_PART })
  return rows.map(toStoredKey)
}
