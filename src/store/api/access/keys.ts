/** The contract of the key store. Keys themselves are never stored, only their SHA-256. */
import { setImmediate } from 'node:timers/promises'
import type { Principal, Scope } from '../../../domain/access/permissions.ts'

export interface NewKey {
  readonly svc_user_id: string
  readonly svc_username: string
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[]
}

export interface StoredKey extends NewKey {
  readonly id: string
  readonly created_at_us: number
  readonly revoked_at_us: number | null
}

interface CreatedKey {
  readonly id: string
  /** The text that callers send; it cannot be had again. */
  readonly secret: string
}

/** Limit: keys of one read. */
export const KEYS_PER_PART = 500

export interface KeyStore {
  /** Stores a new key. Resolves only after it is durable. @throws ApiError server_overloaded, store_unavailable */
  createKey(key: NewKey): Promise<CreatedKey>
  /**
   * The caller behind a key, or null when it is unknown or revoked. Asked for by every request, so that it must be
   * cheap: it may lag a revocation by a second.
   *
   * @throws ApiError store_unavailable
   */
  findPrincipal(secret: string): Promise<Principal | null>
  /** One key, live or revoked; null when there is none. @throws ApiError store_unavailable */
  findKey(id: string): Promise<StoredKey | null>
  /**
   * Keys, oldest first: the first ones, or those behind a key of the list. Fewer than KEYS_PER_PART are the last.
   *
   * @throws ApiError store_unavailable
   */
  listKeys(after?: StoredKey): Promise<StoredKey[]>
  /** False when there is no such key, or it was revoked before. @throws ApiError as createKey */
  revokeKey(id: string): Promise<boolean>
}

/** All keys in parts, oldest first; other requests have their turn between two parts. */
export async function* listKeyParts(keys: KeyStore): AsyncGenerator<StoredKey[]> {
  let after: StoredKey | undefined
  do {
    const part = await keys.listKeys(after)
    yield part
    after = part.length < KEYS_PER_PART ? undefined : part.at(-1)
    await setImmediate()
  } while (after !== undefined)
}
