/** Whether the node's own store and PostgreSQL can be used now. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import type { StoreHealth } from '../../api/health.ts'
import { createCombinedHealth } from '../../base/health/combined-health.ts'
import type { Postgres } from '../db/client.ts'
import { PROVE_WRITABLE } from '../db/migrations.sql.ts'

/** Limit: a check that takes longer has failed. */
const ANSWER_MS_MAX = 2000

export function createStoreHealth(db: Postgres, node: StoreHealth): StoreHealth {
  const check = () => {
    const slow = sleep(ANSWER_MS_MAX, new Error('PostgreSQL did not answer in time'), {
      ref: false,
    })
    const asked = db
      .transaction((tx) => tx.all(PROVE_WRITABLE))
      .then(
        () => null,
        // A full queue is reported by its 503; the store itself works.
        (error: unknown) => (isFull(error) ? null : error),
      )
    return Promise.race([asked, slow])
  }
  return createCombinedHealth(node, check, 'keys cannot be used: PostgreSQL does not answer')
}

function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'server_overloaded'
}
