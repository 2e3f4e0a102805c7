/** API keys in SQLite, cached for a short time so that authentication needs no statement. */
import { randomBytes } from 'node:crypto'
import { hashKey, isSameBytes } from '../../../domain/access/keys.ts'
import type { Principal } from '../../../domain/access/permissions.ts'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import {
  type KeyRow,
  makeKey,
  partBehind,
  toPrincipal,
  toStoredKey,
} from '../../base/access/key-rows.ts'
import { FIND_KEY, FIND_KEY_BY_ID, LIST_KEYS } from '../../base/access/keys.sql.ts'
import { createPrincipalCache } from '../../base/access/principal-cache.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'

/**
 * @param db - for reads on this thread
 */
export function createKeyStore(db: Connection, writes: Writes): KeyStore {
  const findKey = db.prepare(FIND_KEY)
  const findKeyById = db.prepare(FIND_KEY_BY_ID)
  const listKeys = db.prepare(LIST_KEYS)
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache(lookUp)

  async function lookUp(secret: string): Promise<Principal | null> {
    const hash = hashKey(secret)
    return orStoreError(() => {
      const row = findKey.get({ hash }) as KeyRow | undefined
      return row && isSameBytes(hash, row.hash) ? toPrincipal(row) : null
    })
  }

  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await writes.run('create_key', row)
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    async findKey(id) {
      return orStoreError(() => {
        const row = findKeyById.get({ id }) as KeyRow | undefined
        return row ? toStoredKey(row) : null
      })
    },
    async listKeys(after) {
      return orStoreError(() => (listKeys.all(partBehind(after)) as KeyRow[]).map(toStoredKey))
    },
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
