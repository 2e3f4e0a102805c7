/** Whether the node's own store and ClickHouse can be used now. */
import type { StoreHealth } from '../../api/health.ts'
import { createCombinedHealth } from '../../base/health/combined-health.ts'
import type { ClickHouse } from '../db/client.ts'
import { READ_NEWEST } from '../db/migrations.sql.ts'

/** Limit: a check that takes longer has failed. */
const READ_MS_MAX = 2000

export function createStoreHealth(db: ClickHouse, node: StoreHealth): StoreHealth {
  const check = () =>
    db.read(READ_NEWEST, {}, AbortSignal.timeout(READ_MS_MAX)).then(
      () => null,
      (cause: unknown) => cause,
    )
  return createCombinedHealth(node, check, 'calls cannot be used: ClickHouse does not answer')
}
