/** Batches recorded calls for a short time, so that many are written in one message; reads of them wait until they are stored. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import { type Failure, toReplyError } from '../../../threads/thread-failure.ts'
import type { RecordingLoss, RecordingStore } from '../../api/chat/recordings.ts'

/** Limit: announced calls; reads do not wait for more. */
const ARRIVALS_MAX = 10_000
/** Limit: how long a read waits. */
const WAIT_MS_MAX = 2_000

export interface Arrivals {
  /** @returns a function to call when the call is stored, or will not be */
  expect(projectId: string, id: string): () => void
  /** Resolves when none of these ids is pending any more, or after two seconds. */
  wait(projectId: string, ids: readonly string[]): Promise<void>
}

export function createArrivals(waitMs = WAIT_MS_MAX): Arrivals {
  const expected = new Map<string, PromiseWithResolvers<void>>()
  // A project id has exactly one slash, so the text is unambiguous.
  const keyOf = (projectId: string, id: string) => `${projectId}/${id}`

  return {
    expect(projectId, id) {
      const key = keyOf(projectId, id)
      if (expected.size >= ARRIVALS_MAX || expected.has(key)) return () => undefined
      const arrival = Promise.withResolvers<void>()
      expected.set(key, arrival)
      return () => {
        expected.delete(key)
        arrival.resolve()
      }
    },
    async wait(projectId, ids) {
      if (expected.size === 0) return
      const found = ids.flatMap((id) => expected.get(keyOf(projectId, id))?.promise ?? [])
      if (found.length === 0) return
      const timeout = new AbortController()
      const isLate = sleep(waitMs, undefined, { signal: timeout.signal }).catch(() => undefined)
      await Promise.race([Promise.all(found), isLate])
      timeout.abort()
    },
  }
}

/**
 * How long calls are gathered. The more of them share a commit, the fewer index pages are written: in batches of 200
 * each call takes some 72 us of the writer's time, of 400 63 us, of 800 57 us.
 */
const GATHER_MS = 100
/** Limits of one write, in calls and in bytes of their texts: some 30 ms of work, for which other writes wait. */
const CALLS_MAX = 512
const BYTES_MAX = 2 * 1024 * 1024
/** Bytes of a chunk; a larger call has a chunk of its own. */
const CHUNK_BYTES = 256 * 1024
/** The number of texts per call: its facts as JSON, its inputs and its output. */
const CALL_TEXTS = 3

/** The store, and the number of calls that are neither stored nor reported as lost. */
interface Recordings extends RecordingStore {
  waiting(): number
}

/** @param record - stores calls, each by itself; returns the reasons of refused ones */
export function createRecordings(
  record: (calls: RecordedChunks) => Promise<readonly Failure[]>,
  arrivals: Arrivals,
): Recordings {
  const unwritten = new Set<Promise<void>>()
  const packer = createRecordedPacker()
  /** The `end` callbacks of the gathered calls. */
  let arrive: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let waiting = 0
  let tell: (loss: RecordingLoss) => void = () => undefined

  async function write(count: number, arrived: readonly (() => void)[]): Promise<void> {
    try {
      const failures = await record(packer.take())
      for (const failure of failures) tell({ count: 1, error: toReplyError(failure) })
    } catch (error) {
      tell({ count, error })
    }
    waiting -= count
    for (const end of arrived) end()
  }

  function writeGathered(): void {
    clearTimeout(timer)
    timer = undefined
    if (packer.count() === 0) return
    const writing = write(packer.count(), arrive)
    arrive = []
    unwritten.add(writing)
    void writing.finally(() => unwritten.delete(writing))
  }

  return {
    onLoss(listener) {
      tell = listener
    },
    announce: arrivals.expect,
    add(call, end) {
      packer.add(call)
      waiting += 1
      if (end !== undefined) arrive.push(end)
      if (packer.count() >= CALLS_MAX || packer.bytes() >= BYTES_MAX) writeGathered()
      else timer ??= setTimeout(writeGathered, GATHER_MS)
    },
    async flush() {
      writeGathered()
      await Promise.all(unwritten)
    },
    waiting: () => waiting,
  }
}

/** Complete calls, one after another, in shared memory, so that no message copies them. */
interface RecordedChunk {
  readonly bytes: Uint8Array
  /** Bytes of each text, in order. */
  readonly lengths: readonly number[]
}

export type RecordedChunks = readonly RecordedChunk[]

interface RecordedPacker {
  add(call: RecordedCall): void
  count(): number
  /** The bytes of all texts. */
  bytes(): number
  /** Returns all added calls in order, and empties the packer. */
  take(): RecordedChunks
}

/**
 * Packs recorded calls as bytes in shared memory for the writer. As texts they would wait in the heap of this thread for
 * up to 100 ms, and the garbage collectors of both threads would copy them; serialized one by one, each is a separate
 * object that the message copies. In two relayed runs each, responses of 32 KB took 413 and 440 us of CPU as texts, 356
 * and 374 as these chunks, and chunks of streams 9.8 and 10.0 us, 7.2 and 7.7; at 1 KB there was no difference.
 */
export function createRecordedPacker(): RecordedPacker {
  let chunks: RecordedChunk[] = []
  let callCount = 0
  let byteCount = 0
  let bytes: Buffer = Buffer.alloc(0)
  let lengths: number[] = []
  let end = 0

  function closeChunk(): void {
    if (lengths.length > 0) chunks.push({ bytes: bytes.subarray(0, end), lengths })
    lengths = []
    end = 0
  }

  function reserve(more: number): void {
    if (lengths.length > 0 && end + more <= bytes.length) return
    closeChunk()
    bytes = Buffer.from(new SharedArrayBuffer(Math.max(CHUNK_BYTES, more)))
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
      closeChunk()
      const taken = chunks
      chunks = []
      callCount = 0
      byteCount = 0
      return taken
    },
  }
}

/** Yields the calls one by one, so that the caller holds the texts of only one in memory. */
export function* unpackRecorded(packed: RecordedChunks): Generator<RecordedCall> {
  for (const { bytes, lengths } of packed) {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let start = 0
    for (let at = 0; at < lengths.length; at += CALL_TEXTS) {
      const [facts, inputs_json, output_json] = lengths.slice(at, at + CALL_TEXTS).map((length) => {
        start += length
        return all.toString('utf8', start - length, start)
      }) as [string, string, string]
      yield { facts: parseLossless(facts) as RecordedCall['facts'], inputs_json, output_json }
    }
  }
}
