/** Entry of a guarded thread that compresses without end, and notifies its owner when it begins. */
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../../src/threads/serve-thread.ts'
import { runWhole } from '../../../src/threads/whole-work.ts'

/** Its words: times that the work was begun, times that it was ended. */
interface PackingData {
  readonly counts: SharedArrayBuffer
}

const counts = new Int32Array((workerData as PackingData).counts)
const WORK_MS = 30

serveThread<never, never, string>((notify) => {
  notify('begun')
  for (;;) {
    runWhole(() => {
      Atomics.add(counts, 0, 1)
      Atomics.wait(counts, 2, 0, WORK_MS)
      Atomics.add(counts, 1, 1)
    })
  }
})
