/** Removes the address and the keys of an upstream from the errors in events that pass as bytes. */
import type { Pieces } from './upstream/exchange.ts'
import type { Redact } from './upstream/redaction.ts'

/** Limit: bytes of a line that are held back. A longer line holds audio and passes as it comes. */
const LINE_BYTES_MAX = 64 * 1024
const LINE_END = 0x0a

/**
 * Returns a reader of the same bytes, whole lines at a time, without what `redact` removes from lines that tell of an
 * error.
 *
 * @param read - returns null at the end
 */
export function createEventReader(
  read: () => Promise<Pieces | null>,
  redact: Redact,
): () => Promise<Pieces | null> {
  async function* readLines(): AsyncGenerator<Pieces, void> {
    let held: Uint8Array = new Uint8Array()
    for (let pieces = await read(); pieces !== null; pieces = await read()) {
      const bytes = Buffer.concat([held, ...pieces])
      const rest = bytes.lastIndexOf(LINE_END) + 1
      const end = bytes.length - rest > LINE_BYTES_MAX ? bytes.length : rest
      held = bytes.subarray(end)
      if (end > 0) yield [redactErrors(bytes.subarray(0, end), redact)]
    }
    if (held.length > 0) yield [redactErrors(Buffer.from(held), redact)]
  }

  const lines = readLines()
  return async () => (await lines.next()).value ?? null
}

/** Latin-1 keeps every byte, valid UTF-8 or not; keys and addresses are ASCII. */
function redactErrors(bytes: Buffer, redact: Redact): Buffer {
  const text = bytes.toString('latin1')
  if (!text.includes('error')) return bytes
  const lines = text.split('\n').map((line) => (line.includes('error') ? redact(line) : line))
  return Buffer.from(lines.join('\n'), 'latin1')
}
