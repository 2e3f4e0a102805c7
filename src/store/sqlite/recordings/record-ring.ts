/**
 * A ring of recorded calls in memory that two threads share: one writes at its head, the other reads at its tail.
 *
 * Why not messages: structured clone of a record costs more than to build it, and what waits to be cloned outlives
 * collections of garbage.
 */

import type {
  RecordedBytes,
  RecordedCall,
  RecordedFacts,
} from '../../../domain/calls/recorded-call.ts'
import { renderJson } from '../../../domain/json/json-text.ts'

/** Bytes of calls that may wait. */
const RING_BYTES = 4 * 1024 * 1024
/** Limit of one call, counted as if its text took most bytes: larger ones would fill the ring by themselves. */
const RECORD_BYTES_MAX = RING_BYTES / 4
/** Bytes that a UTF-16 unit takes at most in UTF-8. */
const UNIT_BYTES_MAX = 3

/** Indices of the shared words: places in the ring, in bytes. */
const HEAD = 0
const TAIL = 1
/** Index of the number of calls that were released; it starts anew behind the largest word. */
const RELEASED = 2
const SHARED_BYTES = 64

/** Words before each record: bytes of it all, of its facts, inputs and output. */
const RECORD_WORDS = 4
const RECORD_HEAD_BYTES = RECORD_WORDS * 4
/** Instead of a record's bytes: the next one stands at the ring's start. */
const WRAP = 0

export interface RingWriter {
  /** What the reader is opened over. */
  readonly memory: SharedArrayBuffer
  /** Takes a call; the bytes that it fills, 0 when it is too large or there is no room. */
  add(call: RecordedCall): number
  /** Calls that were taken and not released yet. */
  waitingCount(): number
}

/** Some calls in their order, whose bodies stand in the ring, and what to release when they are done with. */
export interface RingBatch {
  readonly calls: readonly RecordedBytes[]
  readonly end: number
}

export interface RingReader {
  /** The next calls, at most so many and no more once they have so many bytes; each is given once. */
  take(countMax: number, bytesMax: number): RingBatch
  /** Gives the room of a batch back, and that of those before it. */
  release(batch: RingBatch): void
}

function openRing(memory: SharedArrayBuffer) {
  return {
    places: new Int32Array(memory, 0, SHARED_BYTES / 4),
    words: new Int32Array(memory, SHARED_BYTES),
    bytes: Buffer.from(memory, SHARED_BYTES),
  }
}

/** An empty ring. */
export function createRingWriter(): RingWriter {
  const memory = new SharedArrayBuffer(SHARED_BYTES + RING_BYTES)
  const { places, words, bytes } = openRing(memory)
  let head = 0
  let addedCount = 0

  /** Where so many bytes fit in one piece, with a word to spare; null when they fit nowhere. */
  function findRoom(byteCount: number): number | null {
    const tail = Atomics.load(places, TAIL)
    if (head < tail) return head + byteCount < tail ? head : null
    if (head + byteCount < RING_BYTES) return head
    if (byteCount >= tail) return null
    words[head / 4] = WRAP
    return 0
  }

  return {
    memory,
    add({ facts, inputs_json, output_json }) {
      const factsJson = renderJson(facts)
      const unitCount = factsJson.length + inputs_json.length + output_json.length
      const bytesMax = alignWord(RECORD_HEAD_BYTES + unitCount * UNIT_BYTES_MAX)
      const start = bytesMax > RECORD_BYTES_MAX ? null : findRoom(bytesMax)
      if (start === null) return 0
      const at = start / 4
      let end = start + RECORD_HEAD_BYTES
      words[at + 1] = bytes.write(factsJson, end)
      end += words[at + 1] as number
      words[at + 2] = bytes.write(inputs_json, end)
      end += words[at + 2] as number
      words[at + 3] = bytes.write(output_json, end)
      end = alignWord(end + (words[at + 3] as number))
      words[at] = end - start
      head = end
      addedCount += 1
      // After the bytes: who sees the head sees them.
      Atomics.store(places, HEAD, head)
      return end - start
    },
    waitingCount: () => (addedCount - Atomics.load(places, RELEASED)) | 0,
  }
}

/** The reader's side, in whichever thread; there is one for each ring. */
export function openRingReader(memory: SharedArrayBuffer): RingReader {
  const { places, words, bytes } = openRing(memory)
  let next = 0

  function readRecord(): RecordedBytes {
    const at = next / 4
    const factsStart = next + RECORD_HEAD_BYTES
    const inputsStart = factsStart + (words[at + 1] as number)
    const outputStart = inputsStart + (words[at + 2] as number)
    const end = outputStart + (words[at + 3] as number)
    next += words[at] as number
    return {
      facts: JSON.parse(bytes.toString('utf8', factsStart, inputsStart)) as RecordedFacts,
      inputs: bytes.subarray(inputsStart, outputStart),
      output: bytes.subarray(outputStart, end),
    }
  }

  return {
    take(countMax, bytesMax) {
      const head = Atomics.load(places, HEAD)
      const calls: RecordedBytes[] = []
      let byteCount = 0
      while (next !== head && calls.length < countMax && byteCount < bytesMax) {
        if (words[next / 4] === WRAP) next = 0
        byteCount += words[next / 4] as number
        calls.push(readRecord())
      }
      return { calls, end: next }
    },
    release({ calls, end }) {
      Atomics.store(places, TAIL, end)
      Atomics.add(places, RELEASED, calls.length)
    },
  }
}

/** The next place at which a word may stand. */
function alignWord(byteCount: number): number {
  return (byteCount + 3) & ~3
}
