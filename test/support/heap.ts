/** The heap without its garbage, for tests of what stays. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectNow = runInNewContext('gc') as () => void

/** Collects twice, with turns between, so that finalizers run and weak references end. */
export async function collectGarbage(): Promise<void> {
  for (let n = 0; n < 2; n++) {
    await new Promise((resolve) => setImmediate(resolve))
    collectNow()
  }
}

/** Bytes in use. */
export async function measureHeap(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage().heapUsed
}
