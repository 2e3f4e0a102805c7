/** The contract of the key store. Keys themselves are never stored, only their SHA-256. */
import { setImmediate } from 'node:timers/promises'
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { KeyLimitSettings, Principal, Scope } from '../../../domain/access/permissions.ts'

/** What of a key can be edited. */
export interface KeySettings extends KeyLimitSettings {
  /** What it is for; null: not named. */
  readonly name: string | null
  readonly svc_username: string
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[]
  /** Patterns of the models that it may use; null: all. */
  readonly models: readonly string[] | null
  /** When it ends; null: never. */
  readonly expires_at_us: number | null
}

type NamedSettings = 'svc_username' | 'scopes' | 'projects'

/** What is not given is null. */
export interface NewKey
  extends Pick<KeySettings, NamedSettings>,
    Partial<Omit<KeySettings, NamedSettings>> {
  readonly svc_user_id: string
}

export interface StoredKey extends KeySettings {
  readonly id: string
  readonly svc_user_id: string
  readonly created_at_us: number
  readonly revoked_at_us: number | null
  /** The last day on which it was used, in days since 1970, UTC; null: none. */
  readonly last_used_day: number | null
  /** Until when its secret before the last rotation is accepted; null: there is none. */
  readonly previous_expires_at_us: number | null
}

interface KeyUpdate {
  readonly id: string
  readonly settings: KeySettings
}

export interface KeyRotation {
  readonly id: string
  /** Until when the last secret is accepted; the one before it ends at once. */
  readonly previous_expires_at_us: number
}

interface CreatedKey {
  readonly id: string
  /** The secret that callers send; it cannot be recovered. */
  readonly secret: string
}

/** Limit: keys per read. */
export const KEYS_PER_PART = 500

/** Each change adds an entry to the audit list, in its transaction. `by`: who makes it; default: the server itself. */
export interface KeyStore {
  /** Stores a new key. Resolves only after it is durable. @throws ApiError server_overloaded, store_unavailable */
  createKey(key: NewKey, by?: AuditOrigin): Promise<CreatedKey>
  /**
   * Returns the caller behind a key, or null when it is unknown, expired or revoked. Called for every request, so it
   * must be cheap: it may lag a change by a second. Notes the day of the key's last use.
   *
   * @throws ApiError store_unavailable
   */
  findPrincipal(secret: string): Promise<Principal | null>
  /**
   * Whether a secret was valid until its key ended, or until the overlap of its rotation did. False for a revoked key.
   *
   * @throws ApiError store_unavailable
   */
  hasExpired(secret: string): Promise<boolean>
  /** One key, live or revoked; null when there is none. @throws ApiError store_unavailable */
  findKey(id: string): Promise<StoredKey | null>
  /**
   * Returns keys, oldest first: the first ones, or those after a key. Fewer than KEYS_PER_PART means the last part.
   *
   * @throws ApiError store_unavailable
   */
  listKeys(after?: StoredKey): Promise<StoredKey[]>
  /** Replaces what can be edited. False when there is no such live key. @throws ApiError as createKey */
  updateKey(update: KeyUpdate, by?: AuditOrigin): Promise<boolean>
  /** Makes another secret and returns it; null when there is no such live key. @throws ApiError as createKey */
  rotateKey(rotation: KeyRotation, by?: AuditOrigin): Promise<string | null>
  /** False when there is no such key, or it was revoked before. @throws ApiError as createKey */
  revokeKey(id: string, by?: AuditOrigin): Promise<boolean>
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
