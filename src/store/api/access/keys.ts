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
  /** The secret that callers send; it cannot be recovered. */
  readonly secret: string
}

/** Limit: keys per read. */
export const KEYS_PER_PART = 500

export interface KeyStore {
  /** Stores a new key. Resolves only after it is durable. @throws ApiError server_overloaded, store_unavailable */
  createKey(key: NewKey): Promise<CreatedKey>
  /**
   * Returns the caller behind a key, or null when it is unknown or revoked. Called for every request, so it must be
   * cheap: it may lag a revocation by a second.
   *
   * @throws ApiError store_unavailable
   */
  findPrincipal(secret: string): Promise<Principal | null>
  /** One key, live or revoked; null when there is none. @throws ApiError store_unavailable */
  findKey(id: string): Promise<StoredKey | null>
  /**
   * Returns keys, oldest first: the first ones, or those after a key. Fewer than KEYS_PER_PART means the last part.
   *
   * @throws ApiError store_unavailable
   */
  listKeys(after?: StoredKey): Promise<StoredKey[]>
  /** False when there is no such key, or it was revoked before. @throws ApiError as createKey */
  revokeKey(id: string): Promise<boolean>
}

/** Yields all keys in parts, oldest first, and lets other requests run between two parts. */
export async function* listKeyParts(keys: KeyStore): AsyncGenerator<StoredKey[]> {
  let after: StoredKey | undefined
  do {
    const part = await keys.listKeys(after)
    yield part
    after = part.length < KEYS_PER_PART ? undefined : part.at(-1)
    await setImmediate()
  } while (after !== undefined)
}
