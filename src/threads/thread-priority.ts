/** Sets the CPU priority of threads. */
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread, for good. Does nothing when it is that low already, or when the system
 * has no priorities of threads.
 *
 * @param niceness - 1 to 19; a thread of 10 gets a tenth of a processor that a thread of 0 could fill
 */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    // Linux accepts the id of a thread where other systems expect that of a process.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (getPriority(thread) < niceness) setPriority(thread, niceness)
  } catch {
    // Without it, other threads are only slower.
  }
}
