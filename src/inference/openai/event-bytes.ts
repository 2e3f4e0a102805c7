/**
 * Events that pass as bytes: their usage is noticed, and so are their errors, which lose the address and the keys of
 * the upstream.
 */

import { findUsage } from '../../domain/chat/reported-usage.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-limits.ts'
import { parseObject } from '../../domain/json/json-values.ts'
import type { ApiError } from '../../errors.ts'
import { findReportedError } from './upstream/errors.ts'
import type { BodyChunks } from './upstream/exchange.ts'
import type { Redact } from './upstream/redaction.ts'

/** Limit: bytes of a line that are held back. A longer line holds audio and passes as it comes. */
const LINE_BYTES_MAX = 64 * 1024
const LINE_END = 0x0a

interface EventBytes {
  /** Returns the same bytes, whole lines at a time, without what is secret in errors; null at the end. */
  read(): Promise<BodyChunks | null>
  /** Returns the first error that an event told of so far, or null. */
  findError(): ApiError | null
  /** Returns the last usage that an event reported so far, or null. */
  usage(): Fields | null
}

type Fields = Readonly<Record<string, unknown>>

/** @param read - returns null at the end */
export function createEventBytes(
  read: () => Promise<BodyChunks | null>,
  redact: Redact,
): EventBytes {
  let error: ApiError | null = null
  let usage: Fields | null = null

  /** Latin-1 keeps every byte, valid UTF-8 or not; keys and addresses are ASCII. */
  function inspect(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    if (!text.includes('error') && !text.includes('usage')) return bytes
    const lines = text.split('\n').map((line) => {
      if (line.includes('usage')) usage = findUsage(eventIn(line) ?? {}) ?? usage
      if (!line.includes('error')) return line
      error ??= findReportedError(eventIn(line) ?? {}, redact)
      return redact(line)
    })
    return Buffer.from(lines.join('\n'), 'latin1')
  }

  async function* readLines(): AsyncGenerator<BodyChunks, void> {
    let held: Uint8Array = new Uint8Array()
    for (let pieces = await read(); pieces !== null; pieces = await read()) {
      const bytes = Buffer.concat([held, ...pieces])
      const rest = bytes.lastIndexOf(LINE_END) + 1
      const end = bytes.length - rest > LINE_BYTES_MAX ? bytes.length : rest
      held = bytes.subarray(end)
      if (end > 0) yield [inspect(bytes.subarray(0, end))]
    }
    if (held.length > 0) yield [inspect(Buffer.from(held))]
  }

  const lines = readLines()
  return {
    read: async () => (await lines.next()).value ?? null,
    findError: () => error,
    usage: () => usage,
  }
}

/** Returns the event of a line such as `data: {"type": "error", …}`, or null. */
function eventIn(line: string): Fields | null {
  if (!line.startsWith('data:')) return null
  const json = Buffer.from(line.slice(5), 'latin1').toString('utf8')
  return exceedsDepth(json, JSON_DEPTH_MAX) ? null : parseObject(json)
}
