/**
 * Callers that ask the same at the same time share one read; its value is given again until it is replaced
 * or pushed out. A read stops when the last of its callers has left.
 */
import { ApiError } from '../../errors.ts'

/** Limit: values that are kept. */
const KEPT_MAX = 256
/** Limit: what takes a larger part of `keptBytesMax` is not kept. */
const PART_MAX = 0.5

export interface SharedReadsOptions<Value> {
  /** Limit: bytes of the values that are kept. */
  readonly keptBytesMax: number
  bytesOf(value: Value): number
}

export interface SharedReads<Value> {
  /**
   * @param key - the whole question, and the version of what it is asked about
   * @param start - makes the value; its signal aborts when nobody waits any more
   * @param signal - of this caller alone
   */
  run(
    key: string,
    start: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value>
}

interface Running<Value> {
  readonly value: Promise<Value>
  readonly abort: AbortController
  waiting: number
}

export function createSharedReads<Value>(options: SharedReadsOptions<Value>): SharedReads<Value> {
  const running = new Map<string, Running<Value>>()
  const kept = createKept(options)

  function begin(key: string, start: (signal: AbortSignal) => Promise<Value>): Running<Value> {
    const abort = new AbortController()
    const value = start(abort.signal)
    const read: Running<Value> = { value, abort, waiting: 0 }
    const end = () => {
      if (running.get(key) === read) running.delete(key)
    }
    value.then((found) => {
      end()
      kept.add(key, found)
    }, end)
    running.set(key, read)
    return read
  }

  return {
    async run(key, start, signal) {
      if (signal.aborted) throw toAbortError(signal)
      const known = kept.get(key)
      if (known !== undefined) return known
      const read = running.get(key) ?? begin(key, start)
      read.waiting += 1
      const { promise: left, reject } = Promise.withResolvers<never>()
      const onAbort = () => {
        read.waiting -= 1
        reject(toAbortError(signal))
        if (read.waiting > 0) return
        // Who asks now must not join a read that stops.
        running.delete(key)
        read.abort.abort(toAbortError(signal))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await Promise.race([read.value, left])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

/** The values that were used last. */
function createKept<Value>({ keptBytesMax, bytesOf }: SharedReadsOptions<Value>) {
  const kept = new Map<string, Value>()
  let bytes = 0

  function drop(key: string, value: Value): void {
    kept.delete(key)
    bytes -= bytesOf(value)
  }

  return {
    get(key: string): Value | undefined {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    add(key: string, value: Value): void {
      const known = kept.get(key)
      if (known !== undefined) drop(key, known)
      if (bytesOf(value) > keptBytesMax * PART_MAX) return
      kept.set(key, value)
      bytes += bytesOf(value)
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
