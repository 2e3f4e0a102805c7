/**
 * Caches the attention state of earlier prompts, so that a prompt with the same beginning is read faster. It must never
 * share entries between two salts: the time saved would reveal the prompts of others.
 */
import { type CacheShape, createKvCache, type KvCache } from './kv-cache.ts'

/** Tokens are reused in whole blocks, so that short common beginnings cost nothing. */
const BLOCK_TOKENS = 16
/** Limit: tokens that are remembered in all, 24 MB of the shipped model. */
const TOKENS_MAX = 16_384
const ENTRIES_MAX = 64

/** The prompts of one model. */
export interface PrefixCache {
  /** A cache of its own for the caller, holding as much of the prompt's start as is known. */
  open(salt: string, ids: readonly number[]): KvCache
  /** Remembers a prompt that was read; the cache stays the caller's. */
  store(salt: string, ids: readonly number[], cache: KvCache): void
}

interface Entry {
  readonly salt: string
  readonly ids: readonly number[]
  readonly cache: KvCache
}

/**
 * An empty memory. The prompt that was not used for the longest time is forgotten first.
 *
 * Spec: §4.3 cache_salt, usage prompt_tokens_details.
 * Choice: requests without a salt share one another's prompts; the last token is always computed.
 */
export function createPrefixCache(shape: CacheShape): PrefixCache {
  /** The most recently used last. */
  let entries: Entry[] = []
  return {
    open(salt, ids) {
      let best: Entry | null = null
      let length = BLOCK_TOKENS - 1
      for (const entry of entries) {
        const common = entry.salt === salt ? commonLength(entry.ids, ids) : 0
        if (common > length) {
          best = entry
          length = common
        }
      }
      const usable = Math.min(length, ids.length - 1)
      const reused = usable - (usable % BLOCK_TOKENS)
      if (best === null || reused === 0) return createKvCache(shape)
      const used = best
      entries = [...entries.filter((entry) => entry !== used), used]
      const cache = used.cache.fork()
      cache.length = reused
      return cache
    },
    store(salt, ids, cache) {
      if (ids.length < BLOCK_TOKENS || ids.length > TOKENS_MAX) return
      const isKnown = entries.some(
        (entry) => entry.salt === salt && commonLength(entry.ids, ids) === ids.length,
      )
      if (isKnown) return
      // What the new prompt begins with is in it.
      entries = entries.filter(
        (entry) => entry.salt !== salt || commonLength(entry.ids, ids) < entry.ids.length,
      )
      entries.push({ salt, ids: [...ids], cache: cache.fork() })
      let tokens = entries.reduce((sum, entry) => sum + entry.ids.length, 0)
      while (tokens > TOKENS_MAX || entries.length > ENTRIES_MAX) {
        tokens -= entries.shift()?.ids.length ?? 0
      }
    },
  }
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}
