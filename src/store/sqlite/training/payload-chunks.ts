/** Payloads that come as texts, in bytes. */

/** Characters that are encoded and written at a time, so that a large payload does not block others. */
const CHUNK_CHARS = 1_048_576

/** A text as bytes, in parts. */
export function* chunksOf(text: string): Generator<Buffer> {
  for (let from = 0; from < text.length; ) {
    const until = endOfChunk(text, from)
    yield Buffer.from(text.slice(from, until), 'utf8')
    from = until
  }
}

/** The end of the chunk that begins at `from`, never between the halves of a surrogate pair. */
function endOfChunk(text: string, from: number): number {
  const until = Math.min(from + CHUNK_CHARS, text.length)
  const last = text.charCodeAt(until - 1)
  const isHighHalf = last >= 0xd800 && last <= 0xdbff
  return isHighHalf && until < text.length ? until + 1 : until
}
