/** API keys in PostgreSQL, with a short cache: a key revoked by another process is refused here within a second. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import { findKey, findPrincipal, listKeys, makeKey } from '../../base/access/key-rows.ts'
import { INSERT_KEY, REVOKE_KEY } from '../../base/access/keys.sql.ts'
import { createPrincipalCache } from '../../base/access/principal-cache.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'

export function createKeyStore(db: Postgres): KeyStore {
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache((secret) => runSteps(db, findPrincipal(secret)))

  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await db.run(INSERT_KEY, { ...row })
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    findKey: (id) => runSteps(db, findKey(id)),
    listKeys: (after) => runSteps(db, listKeys(after)),
    async revokeKey(id) {
      const changed = await db.run(REVOKE_KEY, { id, revoked_at_us: readClockUs() })
      cache.clear()
      return changed > 0
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}
