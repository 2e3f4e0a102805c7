/** Checks of health that many may ask for. */

/** How long a result is reused, milliseconds: many probes may ask. */
const CACHED_MS = 1000

/** Returns a check whose callers share the one that runs, or the last result while it is new. */
export function createCachedCheck<T>(check: () => Promise<T>): () => Promise<T> {
  let checking: Promise<T> | null = null
  let checkedMs = Number.NEGATIVE_INFINITY
  return () => {
    if (checking === null || performance.now() - checkedMs > CACHED_MS) {
      checkedMs = Number.POSITIVE_INFINITY
      checking = check().finally(() => {
        checkedMs = performance.now()
      })
    }
    return checking
  }
}
