/** The health of a store that stands on the node's own: of both at once. */
import type { StoreHealth } from '../../api/health.ts'

/** What was found is told again for so long: probes of many may ask. */
const KEPT_MS = 1000

/**
 * @param check - null when the store can be used, else why not; it ends within a time of its own
 * @param failing - what is told then
 */
export function createBesideHealth(
  node: StoreHealth,
  check: () => Promise<unknown>,
  failing: string,
): StoreHealth {
  let checking: Promise<unknown> | null = null
  let checkedMs = Number.NEGATIVE_INFINITY

  async function checkOnce(): Promise<unknown> {
    const error = await check()
    checkedMs = performance.now()
    return error
  }

  return {
    async checkStore() {
      if (checking === null || performance.now() - checkedMs > KEPT_MS) {
        checkedMs = Number.POSITIVE_INFINITY
        checking = checkOnce()
      }
      const [state, error] = await Promise.all([node.checkStore(), checking])
      if (error === null) return state
      return { ...state, failing: [...state.failing, failing], cause: state.cause ?? error }
    },
  }
}
