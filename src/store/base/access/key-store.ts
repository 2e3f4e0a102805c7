/** API keys in SQLite and PostgreSQL alike, with a short cache: a key revoked by another process is refused within a second. */
import { randomBytes } from 'node:crypto'
import type { Principal } from '../../../domain/access/permissions.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import { run, type StepRuns, type Steps } from '../db/steps.ts'
import { findKey, findPrincipal, listKeys, makeKey, type NewKeyRow } from './key-rows.ts'
import { INSERT_KEY, REVOKE_KEY } from './keys.sql.ts'

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
