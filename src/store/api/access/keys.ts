/** The contract of the key store. Keys themselves are never stored, only their SHA-256. */
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
  /** All keys, oldest first. @throws ApiError store_unavailable */
  listKeys(): Promise<StoredKey[]>
  /** False when there is no such key, or it was revoked before. @throws ApiError as createKey */
  revokeKey(id: string): Promise<boolean>
}
