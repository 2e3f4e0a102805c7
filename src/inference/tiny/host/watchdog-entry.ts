/**
 * A thread that ends the model's process: when its parent has died, since a killed server sends no message; and when a
 * template or grammar takes too much, since a loop cannot check itself.
 */
import { workerData } from 'node:worker_threads'

/** What the thread is started with. */
export interface WatchdogOptions {
  readonly parentPid: number
  /** Its first number is 0, or names the stretch of work that is under the limit; shared. */
  readonly stretch: Int32Array
  /** Limit: time of the processor that one stretch may take. Milliseconds. */
  readonly stretchCpuMsMax: number
}

const CHECK_MS = 100

const { parentPid, stretch, stretchCpuMsMax } = workerData as WatchdogOptions
let watched = 0
let begunMs = 0
setInterval(() => {
  const current = Atomics.load(stretch, 0)
  // Why: time of the processor, as a busy machine must not make an honest grammar fail.
  const cpuMs = readCpuMs()
  if (current !== watched) begunMs = cpuMs
  watched = current
  const isTooLong = current !== 0 && cpuMs - begunMs > stretchCpuMsMax
  // A process whose parent has ended is given to another one.
  if (isTooLong || process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
}, CHECK_MS)

function readCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
