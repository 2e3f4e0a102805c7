/** Generates and hashes API keys. Pure; the caller provides the random bytes. */
import { hash, timingSafeEqual } from 'node:crypto'

/** Bytes of randomness in a key. */
export const KEY_BYTES = 32

/** The text of a key: `wk_` and the bytes in base64url. */
export function renderKey(random: Buffer): string {
  return `wk_${random.toString('base64url')}`
}

/** SHA-256 of a key's text. A fast hash is enough: keys hold 256 random bits. */
export function hashKey(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Compares two hashes, or two keys, in constant time. */
export function isSameBytes(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
