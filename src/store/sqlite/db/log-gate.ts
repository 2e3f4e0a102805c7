/**
 * What the threads of one database agree on about its write-ahead log: a read holds on to the log from where it
 * began, so a log that has to begin anew needs a moment without reads. Lies in shared memory.
 */

/** Reads and writes begin as they come. */
const OPEN = 0
/** The log is long: no read begins. */
const DRAINING = 1
/** The log is at its limit: no write begins either, and reads that last end. */
const FULL = 2

/** Limit: how long anyone waits for the log. What waits for a thread that is gone goes on after it. */
const WAIT_MS_MAX = 5000

/** Where the state lies, and whether the database is copied. */
const STATE = 0
const COPY = 1

/** A gate that is open. */
export function createLogGateMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

export interface LogGate {
  /** Holds up this thread until a read may begin; no read of its own may be open. */
  awaitRead(): void
  /** Holds up this thread until a write may begin. */
  awaitWrite(): void
  /** Whether writes wait for reads that last. */
  isFull(): boolean
  open(): void
  /** Lets no read begin. */
  drain(): void
  /** Lets no write begin either. */
  fill(): void
  /** Keeps the log from being cut, which would have a copy that is under way begin anew. */
  setCopied(isCopied: boolean): void
  isCopied(): boolean
}

export function openLogGate(memory: SharedArrayBuffer): LogGate {
  const state = new Int32Array(memory)

  function set(next: number): void {
    Atomics.store(state, STATE, next)
    Atomics.notify(state, STATE)
  }

  function awaitWhile(isShut: (now: number) => boolean): void {
    const deadlineMs = performance.now() + WAIT_MS_MAX
    while (true) {
      const now = Atomics.load(state, STATE)
      const restMs = deadlineMs - performance.now()
      if (!isShut(now) || restMs <= 0) return
      Atomics.wait(state, STATE, now, restMs)
    }
  }

  return {
    awaitRead: () => awaitWhile((now) => now !== OPEN),
    awaitWrite: () => awaitWhile((now) => now === FULL),
    isFull: () => Atomics.load(state, STATE) === FULL,
    open: () => set(OPEN),
    drain: () => set(DRAINING),
    fill: () => set(FULL),
    setCopied: (isCopied) => void Atomics.store(state, COPY, isCopied ? 1 : 0),
    isCopied: () => Atomics.load(state, COPY) === 1,
  }
}
