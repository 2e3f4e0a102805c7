/**
 * A thread of a guarded process that ends the process with its parent. Why: a server that is killed says
 * nothing, and a template or grammar that loops never gets to notice; it would loop for ever.
 */
import { workerData } from 'node:worker_threads'

/** How long a process may outlive its parent. */
const CHECK_MS = 1_000

const { parentPid } = workerData as { readonly parentPid: number }
setInterval(() => {
  // A process whose parent has ended is given to another one.
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
}, CHECK_MS)
