/** API keys in SQLite, cached for a short time so that authentication needs no statement. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import { findKey, findPrincipal, listKeys, makeKey } from '../../base/access/key-rows.ts'
import { createPrincipalCache } from '../../base/access/principal-cache.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createKeyStore(db: Connection, writes: Writes): KeyStore {
  const read = createStepReader(db)
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache((secret) => read(findPrincipal(secret)))

  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await writes.run('create_key', row)
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    findKey: (id) => read(findKey(id)),
    listKeys: (after) => read(listKeys(after)),
    async revokeKey(id) {
      const wasLive = await writes.run('revoke_key', { id, revoked_at_us: readClockUs() })
      cache.clear()
      return wasLive
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}
