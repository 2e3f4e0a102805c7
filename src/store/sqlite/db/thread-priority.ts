/** How much a thread gets of a processor that others want, too. */
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * Lowers the priority of the thread that calls it, for good. Where it is as low already, or the system has no
 * priorities of threads, all stays as it is.
 *
 * @param niceness - 1 to 19; a thread of 10 gets a tenth of a processor that one of 0 wants whole
 */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    // Linux takes the id of a thread where others take that of a process.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (getPriority(thread) < niceness) setPriority(thread, niceness)
  } catch {
    // Only slower for others.
  }
}
