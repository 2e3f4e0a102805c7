/** Recorded calls on their way to the write thread: into its ring, of which the thread is told now and then. */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import { createRingWriter, type RingWriter } from './record-ring.ts'

/** Bytes of calls after which the thread is told without being asked to. */
const ANNOUNCED_BYTES = 2 * 1024 * 1024

interface Waiter {
  /** Of the calls that it waits for, those that are still in the ring. */
  leftCount: number
  readonly resolve: () => void
}

export interface RecordOutbox {
  /** A new ring for a new thread: what the thread is to read. */
  open(): SharedArrayBuffer
  /** Takes a call; false when it is too large or there is no room. */
  add(call: RecordedCall): boolean
  /** Tells the thread of what it was not told. */
  announce(): void
  /** Resolves when all that was taken before has left the ring. */
  flush(): Promise<void>
  /** To be called when the thread has released calls. */
  noteReleased(): void
  /** The thread is gone: how many calls went with it. */
  abandon(): number
}

/** @param tellThread - that there are calls in the ring */
export function createRecordOutbox(tellThread: () => void): RecordOutbox {
  let ring: RingWriter | null = null
  let unannouncedBytes = 0
  let waiters: Waiter[] = []
  /** Calls in the ring when the waiters were looked at last, and those that came since. */
  let knownCount = 0

  function announce(): void {
    if (unannouncedBytes > 0) tellThread()
    unannouncedBytes = 0
  }

  function noteReleased(): void {
    const waitingCount = ring?.waitingCount() ?? 0
    const releasedCount = knownCount - waitingCount
    knownCount = waitingCount
    for (const waiter of waiters) waiter.leftCount -= releasedCount
    const done = waiters.filter(({ leftCount }) => leftCount <= 0)
    waiters = waiters.filter(({ leftCount }) => leftCount > 0)
    for (const { resolve } of done) resolve()
  }

  return {
    open() {
      ring = createRingWriter()
      return ring.memory
    },
    add(call) {
      const byteCount = ring?.add(call) ?? 0
      if (byteCount === 0) return false
      knownCount += 1
      unannouncedBytes += byteCount
      if (unannouncedBytes >= ANNOUNCED_BYTES) announce()
      return true
    },
    announce,
    flush() {
      announce()
      noteReleased()
      if (knownCount === 0) return Promise.resolve()
      return new Promise((resolve) => waiters.push({ leftCount: knownCount, resolve }))
    },
    noteReleased,
    abandon() {
      const lostCount = ring?.waitingCount() ?? 0
      ring = null
      unannouncedBytes = 0
      noteReleased()
      return lostCount
    },
  }
}
