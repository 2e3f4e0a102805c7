/**
 * Callers that ask the same at the same time share one read; its value is given again until it is replaced
 * or pushed out. A read stops when the last of its callers has left. What nobody has any more is given back.
 */
import { ApiError } from '../../../errors.ts'

/** Limit: values that are kept. */
const KEPT_MAX = 256
/** Limit: what takes a larger part of `keptBytesMax` is not kept. */
const PART_MAX = 0.5

export interface SharedReadsOptions<Value> {
  /** Limit: bytes of the values that are kept. */
  readonly keptBytesMax: number
  bytesOf(value: Value): number
  /** Gives back what a value holds, after the last who has it. */
  free(value: Value): void
}

/** A value that is there until it is released, once. */
export interface Held<Value> {
  readonly value: Value
  release(): void
}

export interface SharedReads<Value> {
  /**
   * @param key - the whole question
   * @param version - of what it is asked about: a value of another one is not given again, nor kept on
   * @param start - makes the value; its signal aborts when nobody waits any more
   * @param signal - of this caller alone
   */
  run(
    key: string,
    version: string,
    start: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Held<Value>>
}

/** A value and how many have it: callers, and the memory of values that are kept. */
interface Counted<Value> {
  readonly value: Value
  readonly version: string
  holders: number
}

interface Running<Value> {
  readonly version: string
  /** Held once by the read itself, until all that waited have got it. */
  readonly counted: Promise<Counted<Value>>
  readonly abort: AbortController
  waiting: number
}

export function createSharedReads<Value>(options: SharedReadsOptions<Value>): SharedReads<Value> {
  const running = new Map<string, Running<Value>>()

  function drop(counted: Counted<Value>): void {
    counted.holders -= 1
    if (counted.holders === 0) options.free(counted.value)
  }

  function hold(counted: Counted<Value>): Held<Value> {
    counted.holders += 1
    return { value: counted.value, release: () => drop(counted) }
  }

  const kept = createKept(options, drop)

  function begin(
    key: string,
    version: string,
    start: (signal: AbortSignal) => Promise<Value>,
  ): Running<Value> {
    const abort = new AbortController()
    const counted = start(abort.signal).then((value) => ({ value, version, holders: 1 }))
    const read: Running<Value> = { version, counted, abort, waiting: 0 }
    const end = () => {
      if (running.get(key) === read) running.delete(key)
    }
    counted.then((found) => {
      end()
      kept.add(key, found)
      // Those that wait take theirs in the microtasks that come first.
      setImmediate(drop, found)
    }, end)
    running.set(key, read)
    return read
  }

  return {
    async run(key, version, start, signal) {
      if (signal.aborted) throw toAbortError(signal)
      const known = kept.get(key, version)
      if (known !== undefined) return hold(known)
      const begun = running.get(key)
      const read = begun?.version === version ? begun : begin(key, version, start)
      read.waiting += 1
      const { promise: left, reject } = Promise.withResolvers<never>()
      const onAbort = () => {
        read.waiting -= 1
        reject(toAbortError(signal))
        if (read.waiting > 0) return
        // Who asks now must not join a read that stops.
        if (running.get(key) === read) running.delete(key)
        read.abort.abort(toAbortError(signal))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return hold(await Promise.race([read.counted, left]))
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

/** The values that were used last. */
function createKept<Value>(
  { keptBytesMax, bytesOf }: SharedReadsOptions<Value>,
  release: (counted: Counted<Value>) => void,
) {
  const kept = new Map<string, Counted<Value>>()
  let bytes = 0

  function drop(key: string, counted: Counted<Value>): void {
    kept.delete(key)
    bytes -= bytesOf(counted.value)
    release(counted)
  }

  return {
    get(key: string, version: string): Counted<Value> | undefined {
      const found = kept.get(key)
      if (found === undefined) return undefined
      if (found.version !== version) {
        drop(key, found)
        return undefined
      }
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    add(key: string, counted: Counted<Value>): void {
      const known = kept.get(key)
      if (known !== undefined) drop(key, known)
      const size = bytesOf(counted.value)
      if (size > keptBytesMax * PART_MAX) return
      kept.set(key, counted)
      counted.holders += 1
      bytes += size
      for (const [oldest, old] of kept) {
        if (bytes <= keptBytesMax && kept.size <= KEPT_MAX) return
        drop(oldest, old)
      }
    },
  }
}

function toAbortError({ reason }: AbortSignal): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('client_closed_request')
}
