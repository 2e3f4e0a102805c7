/** Estimates how much memory a waiting read or write takes. */

/** The most bytes that a character of a text takes. */
const CHARACTER_BYTES = 2
/** Bytes of any value besides its characters, bytes or members. */
const VALUE_BYTES = 16

/** Returns the bytes of a cloneable value: never less than its texts and byte arrays take. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length * CHARACTER_BYTES
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  if (ArrayBuffer.isView(value)) return VALUE_BYTES + value.byteLength
  let bytes = VALUE_BYTES
  if (Array.isArray(value)) for (const member of value) bytes += sizeOf(member)
  else for (const name in value) bytes += sizeOf((value as Record<string, unknown>)[name])
  return bytes
}
