/** Keys that are accepted besides the stored ones: the bootstrap key, and one that ends with the process. */
import { randomBytes } from 'node:crypto'
import { isSameBytes, KEY_BYTES, renderKey } from '../domain/access/keys.ts'
import type { Principal } from '../domain/access/permissions.ts'

type Rights = Omit<Principal, 'keyId'>

interface ServerKey {
  /** The secret as bytes: comparing bytes costs a fraction of the hash that every request would have to compute. */
  readonly secret: Buffer
  readonly principal: Principal
}

export interface ServerKeys {
  /** Returns the caller of one of these keys, or null. */
  findPrincipal(secret: string): Principal | null
  /**
   * Creates a key for parts of the server that call its own HTTP API, and returns the secret. The key is never
   * stored; it is valid until the process ends or another one is created.
   */
  createProcessKey(rights: Rights): string
}

/** @param bootstrapKey - a key with all scopes on all projects, or null */
export function createServerKeys(bootstrapKey: string | null): ServerKeys {
  const bootstrap: ServerKey | null =
    bootstrapKey === null
      ? null
      : { secret: Buffer.from(bootstrapKey), principal: BOOTSTRAP_PRINCIPAL }
  let ofProcess: ServerKey | null = null
  return {
    findPrincipal(text) {
      const secret = Buffer.from(text)
      const found = [bootstrap, ofProcess].find((key) => key && isSameBytes(secret, key.secret))
      return found?.principal ?? null
    },
    createProcessKey(rights) {
      const secret = renderKey(randomBytes(KEY_BYTES))
      const principal = Object.freeze({ ...rights, keyId: `process-${rights.svc_user_id}` })
      ofProcess = { secret: Buffer.from(secret), principal }
      return secret
    },
  }
}

const BOOTSTRAP_PRINCIPAL: Principal = Object.freeze({
  keyId: 'bootstrap',
  svc_user_id: 'bootstrap',
  svc_username: 'bootstrap',
  scopes: Object.freeze(['admin'] as const),
  projects: Object.freeze(['*']),
})
