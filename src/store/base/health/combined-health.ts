/** The combined health of the node's own store and of a remote one. */
import type { StoreHealth } from '../../api/health.ts'

/**
 * @param check - resolves to null when the store can be used, otherwise to the reason; has its own timeout
 * @param failing - the message to report in that case
 */
export function createCombinedHealth(
  node: StoreHealth,
  check: () => Promise<unknown>,
  failing: string,
): StoreHealth {
  const checkOther = createCachedCheck(check)
  return {
    async checkStore() {
      const [state, error] = await Promise.all([node.checkStore(), checkOther()])
      if (error === null) return state
      return { ...state, failing: [...state.failing, failing], cause: state.cause ?? error }
    },
  }
}

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
