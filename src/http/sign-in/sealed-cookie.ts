/** Cookies with a value that only this server can read and make: an encrypted JWT with an expiry. */
import type { FastifyReply, FastifyRequest } from 'fastify'
// Not from its root, which loads 30 more modules at each start.
import { jwtDecrypt } from 'jose/jwt/decrypt'
import { EncryptJWT } from 'jose/jwt/encrypt'

const ALGORITHM = 'dir'
const ENCRYPTION = 'A256GCM'

interface CookieOptions {
  readonly name: string
  /** 32 bytes. Secret. */
  readonly key: Uint8Array
  /** A value ends so many seconds after it was set. */
  readonly expiryS: number
  readonly secure: boolean
  readonly sameSite: 'strict' | 'lax'
}

/** The cookie of one request. */
export interface SealedCookie<Value> {
  /** Returns what the request has or what was set since; undefined for none, an expired or a foreign one. */
  get(): Value | undefined
  /** Sets the value in the response. */
  set(value: Value): void
  /** Removes it in the response. */
  delete(): void
  /** Writes a change to the headers of the response. */
  write(reply: FastifyReply): Promise<void>
}

export async function openSealedCookie<Value>(
  request: FastifyRequest,
  { name, key, expiryS, secure, sameSite }: CookieOptions,
): Promise<SealedCookie<Value>> {
  const received = request.cookies[name]
  let value: Value | undefined = received === undefined ? undefined : await unseal(received, key)
  let isChanged = false
  return {
    get: () => value,
    set(next) {
      value = next
      isChanged = true
    },
    delete() {
      value = undefined
      isChanged = true
    },
    async write(reply) {
      if (!isChanged) return
      const attributes = { path: '/', httpOnly: true, secure, sameSite } as const
      if (value === undefined) {
        reply.setCookie(name, '', { ...attributes, expires: new Date(0) })
        return
      }
      reply.setCookie(name, await seal(value, key, expiryS), { ...attributes, maxAge: expiryS })
    },
  }
}

/** Returns the text of a cookie. */
export function seal(value: unknown, key: Uint8Array, expiryS: number): Promise<string> {
  return new EncryptJWT({ of: value })
    .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
    .setExpirationTime(`${expiryS}s`)
    .encrypt(key)
}

async function unseal<Value>(text: string, key: Uint8Array): Promise<Value | undefined> {
  try {
    const { payload } = await jwtDecrypt<{ readonly of: Value }>(text, key, {
      keyManagementAlgorithms: [ALGORITHM],
      contentEncryptionAlgorithms: [ENCRYPTION],
      requiredClaims: ['exp'],
    })
    return payload.of
  } catch {
    return undefined
  }
}
