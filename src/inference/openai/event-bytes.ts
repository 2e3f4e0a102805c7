/** The errors in events that pass as bytes: noticed, and without the address and the keys of the upstream. */

import { isObject } from '../../domain/json/is-object.ts'
import type { ApiError } from '../../errors.ts'
import { findToldError } from './upstream/errors.ts'
import type { Pieces } from './upstream/exchange.ts'
import type { Redact } from './upstream/redaction.ts'

/** Limit: bytes of a line that are held back. A longer line holds audio and passes as it comes. */
const LINE_BYTES_MAX = 64 * 1024
const LINE_END = 0x0a

interface EventBytes {
  /** Returns the same bytes, whole lines at a time, without what is secret in errors; null at the end. */
  read(): Promise<Pieces | null>
  /** Returns the first error that an event told of so far, or null. */
  findError(): ApiError | null
}

/** @param read - returns null at the end */
export function createEventBytes(read: () => Promise<Pieces | null>, redact: Redact): EventBytes {
  let error: ApiError | null = null

  /** Latin-1 keeps every byte, valid UTF-8 or not; keys and addresses are ASCII. */
  function redactErrors(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    if (!text.includes('error')) return bytes
    const lines = text.split('\n').map((line) => {
      if (!line.includes('error')) return line
      error ??= errorIn(line, redact)
      return redact(line)
    })
    return Buffer.from(lines.join('\n'), 'latin1')
  }

  async function* readLines(): AsyncGenerator<Pieces, void> {
    let held: Uint8Array = new Uint8Array()
    for (let pieces = await read(); pieces !== null; pieces = await read()) {
      const bytes = Buffer.concat([held, ...pieces])
      const rest = bytes.lastIndexOf(LINE_END) + 1
      const end = bytes.length - rest > LINE_BYTES_MAX ? bytes.length : rest
      held = bytes.subarray(end)
      if (end > 0) yield [redactErrors(bytes.subarray(0, end))]
    }
    if (held.length > 0) yield [redactErrors(Buffer.from(held))]
  }

  const lines = readLines()
  return {
    read: async () => (await lines.next()).value ?? null,
    findError: () => error,
  }
}

/** Returns the error of a line such as `data: {"error": {…}}` or `data: {"type": "error", …}`, or null. */
function errorIn(line: string, redact: Redact): ApiError | null {
  if (!line.startsWith('data:')) return null
  try {
    const event: unknown = JSON.parse(Buffer.from(line.slice(5), 'latin1').toString('utf8'))
    return isObject(event) ? findToldError(event, redact) : null
  } catch {
    return null
  }
}
