/** API keys in PostgreSQL, with a short cache: a key revoked by another process is refused here within a second. */
import { randomBytes } from 'node:crypto'
import { hashKey, isSameBytes } from '../../../domain/access/keys.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import {
  type KeyRow,
  makeKey,
  partBehind,
  toPrincipal,
  toStoredKey,
} from '../../base/access/key-rows.ts'
import * as SQL from '../../base/access/keys.sql.ts'
import { createPrincipalCache } from '../../base/access/principal-cache.ts'
import type { Postgres } from '../db/client.ts'

export function createKeyStore(db: Postgres): KeyStore {
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache(async (secret) => {
    const hash = hashKey(secret)
    const row = await db.first<KeyRow>(SQL.FIND_KEY, { hash })
    return row && isSameBytes(hash, row.hash) ? toPrincipal(row) : null
  })
  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await db.run(SQL.INSERT_KEY, { ...row })
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    async findKey(id) {
      const row = await db.first<KeyRow>(SQL.FIND_KEY_BY_ID, { id })
      return row ? toStoredKey(row) : null
    },
    async listKeys(after) {
      return (await db.all<KeyRow>(SQL.LIST_KEYS, partBehind(after))).map(toStoredKey)
    },
    async revokeKey(id) {
      const changed = await db.run(SQL.REVOKE_KEY, { id, revoked_at_us: readClockUs() })
      cache.clear()
      return changed > 0
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}
