/** Whether the node's own store and PostgreSQL can be used now. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import type { StoreHealth } from '../../api/health.ts'
import type { Postgres } from '../db/client.ts'
import { PROVE_WRITABLE } from './store-health.sql.ts'

/** What was found is told again for so long: probes of many may ask. */
const KEPT_MS = 1000
/** Limit: what takes longer has failed for whoever waits. */
const ANSWER_MS_MAX = 2000

export function createStoreHealth(db: Postgres, node: StoreHealth): StoreHealth {
  let checking: Promise<unknown> | null = null
  let checkedMs = Number.NEGATIVE_INFINITY

  /** Null when it takes writes, else why not. */
  async function check(): Promise<unknown> {
    const slow = sleep(ANSWER_MS_MAX, new Error('PostgreSQL is too slow'), { ref: false })
    const asked = db
      .transaction((tx) => tx.all(PROVE_WRITABLE))
      .then(
        () => null,
        // A full queue is told by its 503; the store itself works.
        (error: unknown) => (isFull(error) ? null : error),
      )
    const error = await Promise.race([asked, slow])
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
      const failing = [...state.failing, 'keys cannot be used: PostgreSQL does not answer']
      return { ...state, failing, cause: state.cause ?? error }
    },
  }
}

function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'server_overloaded'
}
