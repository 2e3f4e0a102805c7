/** Ids of what is stored once, whoever stores it. Pure. */
import { createHash } from 'node:crypto'

/** Returns a UUID of version 8 (RFC 9562), which is the same for the same JSON values. */
export function hashedUuid(parts: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
