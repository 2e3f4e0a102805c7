/**
 * Packs recorded calls as bytes for the writer. Why: as texts they wait in the heap of this thread, a message copies
 * them all at once into that of the writer, and the garbage collectors of both copy them until they are written. In two
 * relayed runs each, responses of 32 KB took 413 and 440 us of CPU as texts, 356 and 374 as bytes, and chunks
 * of streams 9.8 and 10.0 us, 7.2 and 7.7 as bytes; at 1 KB there is no difference. Serialised one by one, as
 * `domain/calls/packed-parts` does, they took 408 and 498 us at 32 KB where this took 345 to 369, and 157 and 165 at 1
 * KB where this took 144 to 151: each is then a separate object, which the message copies.
 */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'

/** Bytes of a piece; a larger call has a piece of its own. */
const PIECE_BYTES = 256 * 1024
/** The number of texts per call: its facts as JSON, its inputs and its output. */
const CALL_TEXTS = 3

/** Complete calls, one after another, in shared memory, so that no message copies them. */
interface CallPiece {
  readonly bytes: Uint8Array
  /** Bytes of each text, in order. */
  readonly lengths: readonly number[]
}

export type PackedCalls = readonly CallPiece[]

interface CallPacker {
  add(call: RecordedCall): void
  count(): number
  /** The bytes of all texts. */
  bytes(): number
  /** Returns all added calls in order, and empties the packer. */
  take(): PackedCalls
}

export function createCallPacker(): CallPacker {
  let pieces: CallPiece[] = []
  let callCount = 0
  let byteCount = 0
  let bytes: Buffer = Buffer.alloc(0)
  let lengths: number[] = []
  let end = 0

  function closeSegment(): void {
    if (lengths.length > 0) pieces.push({ bytes: bytes.subarray(0, end), lengths })
    lengths = []
    end = 0
  }

  function reserve(more: number): void {
    if (lengths.length > 0 && end + more <= bytes.length) return
    closeSegment()
    bytes = Buffer.from(new SharedArrayBuffer(Math.max(PIECE_BYTES, more)))
  }

  return {
    add({ facts, inputs_json, output_json }) {
      const texts = [JSON.stringify(facts), inputs_json, output_json]
      const sizes = texts.map((text) => Buffer.byteLength(text))
      const size = sizes.reduce((sum, length) => sum + length)
      reserve(size)
      for (const text of texts) end += bytes.write(text, end)
      lengths.push(...sizes)
      callCount += 1
      byteCount += size
    },
    count: () => callCount,
    bytes: () => byteCount,
    take() {
      closeSegment()
      const taken = pieces
      pieces = []
      callCount = 0
      byteCount = 0
      return taken
    },
  }
}

/** Yields the calls one by one, so that the caller holds the texts of only one in memory. */
export function* unpackCalls(packed: PackedCalls): Generator<RecordedCall> {
  for (const { bytes, lengths } of packed) {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let start = 0
    for (let at = 0; at < lengths.length; at += CALL_TEXTS) {
      const [facts, inputs_json, output_json] = lengths.slice(at, at + CALL_TEXTS).map((length) => {
        start += length
        return all.toString('utf8', start - length, start)
      }) as [string, string, string]
      yield { facts: JSON.parse(facts), inputs_json, output_json }
    }
  }
}
