/** What keys stand for, remembered for a second, so that authentication costs no statement. Of this store and of others. */
import type { Principal } from '../../../domain/access/permissions.ts'

/** Limit: how long a revoked key may still be taken. */
const CACHE_TTL_MS = 1000
/** Limit: 10,000 entries of about 300 bytes. */
const CACHE_ENTRIES_MAX = 10_000

type Found = Promise<Principal | null>

interface PrincipalCache {
  /** The caller behind a key, as it was found in the last second, or as it is found now. */
  find(secret: string): Found
  /** Forgets all. */
  clear(): void
}

/** @param lookUp - by the key's text; what it throws comes through and is not remembered */
export function createPrincipalCache(lookUp: (secret: string) => Found): PrincipalCache {
  /** By the key's text, since hashing it costs more than all else here; forgotten as a whole, and soon. */
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
      // Kept: what is found late goes into the map that was there when it was asked for.
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
