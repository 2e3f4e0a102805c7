/** The combined health of the node's own store and of another store beside it. */
import type { StoreHealth } from '../../api/health.ts'
import { createCachedCheck } from './cached-check.ts'

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
