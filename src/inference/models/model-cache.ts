/** How the completions of a model are cached, by its entry in the models file. */
import { createHash } from 'node:crypto'
import type { ModelEntry } from './model-entry.ts'

/** The cache of a model. */
export interface ModelCache {
  /** Seconds that a completion stays. */
  readonly ttlS: number
  /** Whether requests that say nothing use it. */
  readonly isAutomatic: boolean
  /** Digest of the model's entry in the models file. */
  readonly revision: string
}

/**
 * Returns the member of a served model; none without a cache.
 *
 * Spec: §4 (a cache is an addition).
 * Choice: a completion that was cached before the entry changed is never replayed after it.
 */
export function toModelCache({ cache, aliases: _aliases, ...entry }: ModelEntry): {
  readonly cache?: ModelCache
} {
  if (cache === undefined) return {}
  const revision = createHash('sha256').update(JSON.stringify(entry)).digest('hex')
  return { cache: { ttlS: cache.ttl_s, isAutomatic: cache.mode === 'automatic', revision } }
}
