/** A process that ends while its thread works; prints how often the work was begun and ended. */
import { startGuardedThread } from '../../../src/threads/thread.ts'

const counts = new SharedArrayBuffer(12)
const words = new Int32Array(counts)
const { worker } = startGuardedThread(new URL('./packing-thread.ts', import.meta.url), {
  workerData: { counts },
})
process.on('exit', () =>
  process.stdout.write(`${Atomics.load(words, 0)} ${Atomics.load(words, 1)}`),
)
worker.on('message', () => setTimeout(() => process.exit(0), 45))
