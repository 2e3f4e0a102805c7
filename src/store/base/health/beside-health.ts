/** The combined health of the node's own store and of another store beside it. */
import type { StoreHealth } from '../../api/health.ts'

/** How long a result is reused, milliseconds: many probes may ask. */
const KEPT_MS = 1000

/**
 * @param check - resolves to null when the store can be used, otherwise to the reason; has its own timeout
 * @param failing - the message to report in that case
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
