/** Work of a thread that must not be interrupted; see thread.ts. */
import { workerData } from 'node:worker_threads'

/** Indexes of the flags that a thread shares with its owner: 1 or 0 each. */
export const INSIDE = 0
export const ENDING = 1

/** The data that a guarded thread gets besides its own. */
interface WholeWorkData {
  readonly wholeWork: SharedArrayBuffer
}

const memory = (workerData as Partial<WholeWorkData> | null)?.wholeWork
const words = memory === undefined ? null : new Int32Array(memory)

/** Runs short work during which a guarded thread is not terminated. */
export function runWhole<T>(run: () => T): T {
  if (words === null) return run()
  Atomics.store(words, INSIDE, 1)
  try {
    if (Atomics.load(words, ENDING) === 1) {
      leave(words)
      // Nothing wakes it: the thread is terminated here.
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
