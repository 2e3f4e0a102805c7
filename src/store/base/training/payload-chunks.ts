/** Encodes text payloads as bytes. */

/** Characters encoded and written at a time, so that a large payload does not block the event loop. */
const CHUNK_CHARS = 1_048_576

/** Yields a text as bytes, in chunks. */
export function* chunksOf(text: string): Generator<Buffer> {
  for (let from = 0; from < text.length; ) {
    const until = endOfChunk(text, from)
    yield Buffer.from(text.slice(from, until), 'utf8')
    from = until
  }
}

/** Returns the end of the chunk that begins at `from`; never splits a surrogate pair. */
function endOfChunk(text: string, from: number): number {
  const until = Math.min(from + CHUNK_CHARS, text.length)
  const last = text.charCodeAt(until - 1)
  const isHighHalf = last >= 0xd800 && last <= 0xdbff
  return isHighHalf && until < text.length ? until + 1 : until
}
