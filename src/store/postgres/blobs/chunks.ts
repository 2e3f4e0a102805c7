/** Splits bytes into chunks of one size, one per row. */

/** Bytes of a chunk, except the last. */
export const CHUNK_BYTES = 262_144

/** Yields the same bytes in chunks, in constant memory; no chunk for no bytes. */
export async function* inChunks(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const bytes of source) {
    held.push(bytes)
    heldBytes += bytes.length
    if (heldBytes < CHUNK_BYTES) continue
    const all = Buffer.concat(held)
    let from = 0
    for (; all.length - from >= CHUNK_BYTES; from += CHUNK_BYTES) {
      yield all.subarray(from, from + CHUNK_BYTES)
    }
    held = [all.subarray(from)]
    heldBytes = all.length - from
  }
  if (heldBytes > 0) yield Buffer.concat(held)
}
