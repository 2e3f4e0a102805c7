/**
 * Lets callers with the same query share one read. A caller that comes while it runs waits for the next one, which
 * sees everything written before the caller asked. A read stops when its last caller has left.
 */
import { requireWaiting } from '../../../domain/access/read-caller.ts'
import { toClientClosedError } from '../../../errors.ts'

interface SharedReads<Value> {
  /**
   * @param key - identifies the query completely
   * @param start - produces the value; its signal aborts when nobody waits any more
   * @param signal - of this caller alone
   */
  run(
    key: string,
    start: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value>
}

interface Flight<Value> {
  readonly value: Promise<Value>
  readonly abort: AbortController
  waiting: number
}

/** The reads of one query: at most one running, and one waiting for its end. */
interface Lane<Value> {
  running: Flight<Value>
  next: Flight<Value> | null
}

export function createSharedReads<Value>(): SharedReads<Value> {
  const lanes = new Map<string, Lane<Value>>()
  type Start = (signal: AbortSignal) => Promise<Value>

  function begin(start: Start): Flight<Value> {
    const abort = new AbortController()
    return { value: start(abort.signal), abort, waiting: 0 }
  }

  /** Begins when the running read has ended, failed or not. */
  function beginAfter(lane: Lane<Value>, start: Start): Flight<Value> {
    return begin(async (abandoned) => {
      await lane.running.value.catch(() => undefined)
      requireWaiting(abandoned)
      return start(abandoned)
    })
  }

  function moveOn(key: string, lane: Lane<Value>): void {
    if (lane.next === null) {
      lanes.delete(key)
      return
    }
    lane.running = lane.next
    lane.next = null
    watch(key, lane)
  }

  function watch(key: string, lane: Lane<Value>): void {
    const onEnd = () => moveOn(key, lane)
    lane.running.value.then(onEnd, onEnd)
  }

  function join(key: string, start: Start): Flight<Value> {
    const lane = lanes.get(key)
    if (!lane) {
      const opened: Lane<Value> = { running: begin(start), next: null }
      lanes.set(key, opened)
      watch(key, opened)
      return opened.running
    }
    if (lane.next === null || lane.next.abort.signal.aborted) lane.next = beginAfter(lane, start)
    return lane.next
  }

  return {
    async run(key, start, signal) {
      requireWaiting(signal)
      const flight = join(key, start)
      flight.waiting += 1
      const { promise: left, reject } = Promise.withResolvers<never>()
      const onAbort = () => {
        flight.waiting -= 1
        reject(toClientClosedError(signal))
        if (flight.waiting === 0) flight.abort.abort(toClientClosedError(signal))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await Promise.race([flight.value, left])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
