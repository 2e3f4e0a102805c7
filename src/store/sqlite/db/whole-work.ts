/** Work of a thread that nothing may end in its middle; see guarded-thread.ts. */
import { workerData } from 'node:worker_threads'

/** The words of the memory that a thread shares with who started it: 1 or 0 each. */
export const INSIDE = 0
export const ENDING = 1

/** What a guarded thread is started with, besides its own data. */
interface WholeWorkData {
  readonly wholeWork: SharedArrayBuffer
}

const memory = (workerData as Partial<WholeWorkData> | null)?.wholeWork
const words = memory === undefined ? null : new Int32Array(memory)

/** Runs short work at whose end a guarded thread may be ended, and not before. */
export function runWhole<T>(run: () => T): T {
  if (words === null) return run()
  Atomics.store(words, INSIDE, 1)
  try {
    if (Atomics.load(words, ENDING) === 1) {
      leave(words)
      // Nothing wakes it: the thread is ended here.
      Atomics.wait(words, ENDING, 1)
    }
    return run()
  } finally {
    leave(words)
  }
}

function leave(words: Int32Array): void {
  Atomics.store(words, INSIDE, 0)
  Atomics.notify(words, INSIDE)
}
