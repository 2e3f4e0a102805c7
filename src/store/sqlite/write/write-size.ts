/** How much memory a write takes while it waits. */

/** Bytes that a character of a text takes at most. */
const CHARACTER_BYTES = 2
/** Bytes of anything else: a number, an object without its members. */
const VALUE_BYTES = 16

/** Bytes of a value that structured clone can carry: never less than its texts and arrays of bytes take. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length * CHARACTER_BYTES
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  if (ArrayBuffer.isView(value)) return value.byteLength
  let bytes = VALUE_BYTES
  if (Array.isArray(value)) for (const member of value) bytes += sizeOf(member)
  else for (const name in value) bytes += sizeOf((value as Record<string, unknown>)[name])
  return bytes
}
