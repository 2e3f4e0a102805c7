/** API keys in SQLite and PostgreSQL alike, with a short cache: a key revoked by another process is refused within a second. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { KeyStore } from '../../api/access/keys.ts'
import { run, type StepRuns, type Steps } from '../db/steps.ts'
import { findKey, findPrincipal, listKeys, makeKey, type NewKeyRow } from './key-rows.ts'
import { INSERT_KEY, REVOKE_KEY } from './keys.sql.ts'
import { createPrincipalCache } from './principal-cache.ts'

interface KeyRevocation {
  readonly id: string
  readonly revoked_at_us: number
}

export const KEY_WRITES = {
  *create_key(key: NewKeyRow): Steps<void> {
    yield* run(INSERT_KEY, key)
  },
  /** Revokes a key; returns whether there was a live one. */
  *revoke_key(revocation: KeyRevocation): Steps<boolean> {
    return (yield* run(REVOKE_KEY, revocation)) > 0
  },
}

export function createKeyStore({ read, write }: StepRuns<typeof KEY_WRITES>): KeyStore {
  const newKeyId = createOrderedIds(readClockUs, randomBytes)
  const cache = createPrincipalCache((secret) => read(findPrincipal(secret)))

  return {
    async createKey(key) {
      const { row, secret } = makeKey(key, newKeyId(), readClockUs())
      await write('create_key', row)
      return { id: row.id, secret }
    },
    findPrincipal: cache.find,
    findKey: (id) => read(findKey(id)),
    listKeys: (after) => read(listKeys(after)),
    async revokeKey(id) {
      const wasLive = await write('revoke_key', { id, revoked_at_us: readClockUs() })
      cache.clear()
      return wasLive
    },
  }
}

function readClockUs(): number {
  return Date.now() * 1000
}
