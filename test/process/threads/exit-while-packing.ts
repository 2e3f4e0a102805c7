/** A process that ends while its thread works; prints how often the work was begun and ended. */
import { startThread } from '../../../src/threads/thread.ts'

const counts = new SharedArrayBuffer(12)
const words = new Int32Array(counts)
startThread<never, never, string>(new URL('./packing-thread.ts', import.meta.url), {
  data: { counts },
  onNotice: () => setTimeout(() => process.exit(0), 45),
})
process.on('exit', () =>
  process.stdout.write(`${Atomics.load(words, 0)} ${Atomics.load(words, 1)}`),
)
