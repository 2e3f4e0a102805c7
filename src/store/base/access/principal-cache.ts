/** A short cache of principals: what another process revokes is refused within a second. */
import type { Principal } from '../../../domain/access/permissions.ts'

/** Limit: how long a revoked key, or a session that was ended, may still be accepted. */
const CACHE_TTL_MS = 1000
/** Limit: 10,000 entries of about 300 bytes. */
const CACHE_ENTRIES_MAX = 10_000

type Found = Promise<Principal | null>

interface PrincipalCache {
  /** Returns the principal of a key or session, from the cache or from a lookup. */
  find(secret: string): Found
  /** Clears the cache. */
  clear(): void
}

/** @param lookUp - finds the principal by the text of the key or session; its errors are passed on and not cached */
export function createPrincipalCache(lookUp: (secret: string) => Found): PrincipalCache {
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
