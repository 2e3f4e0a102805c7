/** Sizes of values and of rows with large texts, so that memory is bounded by bytes, not by rows. */

/** Limit: bytes of the texts of one statement; a single text may be larger. */
export const PART_BYTES = 4 * 1024 * 1024

/** Yields rows in order, in parts within the limit of bytes. */
export function* partsBySize<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
): Generator<readonly Row[], void> {
  let part: Row[] = []
  let bytes = 0
  for (const row of rows) {
    if (part.length > 0 && bytes + row.bytes > PART_BYTES) {
      yield part
      ;[part, bytes] = [[], 0]
    }
    part.push(row)
    bytes += row.bytes
  }
  if (part.length > 0) yield part
}

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
