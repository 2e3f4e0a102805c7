/**
 * The state of the write-ahead log, shared by all threads of one database: a read pins the log from the position
 * where it began, so the log can only restart at an instant without reads. Lives in shared memory.
 */

/** Reads and writes begin freely. */
const OPEN = 0
/** The log is long: no read begins. */
const DRAINING = 1
/** The log is at its limit: no write begins either, and long reads end. */
const FULL = 2

/** Limit: how long a thread waits for the log. Whoever waits for a dead thread continues after that. */
const WAIT_MS_MAX = 5000

/** Indexes of the state, and of the flag that a backup copies the database. */
const STATE = 0
const COPY = 1

/** Creates the memory of an open gate. */
export function createWalGateMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

export interface WalGate {
  /** Blocks this thread until a read may begin; the thread must have no open read itself. */
  awaitRead(): void
  /** Blocks this thread until a write may begin. */
  awaitWrite(): void
  /** Whether writes wait for long reads. */
  isFull(): boolean
  open(): void
  /** Holds back new reads. */
  drain(): void
  /** Holds back new writes as well. */
  fill(): void
  /** Keeps the log from being truncated, which would restart a running copy. */
  setCopied(isCopied: boolean): void
  isCopied(): boolean
}

export function openWalGate(memory: SharedArrayBuffer): WalGate {
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
