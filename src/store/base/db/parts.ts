/** Splits rows with large texts into parts, so that memory is bounded by bytes, not by rows. */

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
