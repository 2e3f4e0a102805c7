/** Whether the node's own store and ClickHouse can be used now. */
import type { StoreHealth } from '../../api/health.ts'
import type { ClickHouse } from '../db/client.ts'
import { READ_NEWEST } from './store-health.sql.ts'

/** What was found is told again for so long: probes of many may ask. */
const KEPT_MS = 1000
/** Limit: what takes longer has failed for whoever waits. */
const READ_MS_MAX = 2000

export function createStoreHealth(db: ClickHouse, node: StoreHealth): StoreHealth {
  let checking: Promise<unknown> | null = null
  let checkedMs = Number.NEGATIVE_INFINITY

  /** Null when it answers, else why not. */
  async function check(): Promise<unknown> {
    const error = await db.read(READ_NEWEST, {}, AbortSignal.timeout(READ_MS_MAX)).then(
      () => null,
      (cause: unknown) => cause,
    )
    checkedMs = performance.now()
    return error
  }

  return {
    async checkStore() {
      if (checking === null || performance.now() - checkedMs > KEPT_MS) {
        checkedMs = Number.POSITIVE_INFINITY
        checking = check()
      }
      const [state, error] = await Promise.all([node.checkStore(), checking])
      if (error === null) return state
      const failing = [...state.failing, 'calls cannot be used: ClickHouse does not answer']
      return { ...state, failing, cause: state.cause ?? error }
    },
  }
}
