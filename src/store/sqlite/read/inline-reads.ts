/** Runs read jobs on the main connection, slice by slice: for a database in memory, which no reader can open. */
import type { Connection } from '../db/connection.ts'
import { openNextSlice } from '../db/next-slice.ts'
import type { ReadJobs } from './read-job.ts'
import type { ReadPool } from './read-pool.ts'
import { beginReadJob } from './reader-serve.ts'

/** How long a slice lasts, milliseconds: the rest of the process waits for it. */
const SLICE_MS = 10

export function createInlineReadPool<Jobs extends ReadJobs>(
  db: Connection,
  jobs: Jobs,
): ReadPool<Jobs> {
  let running = 0
  return {
    async run(name, input, caller) {
      const job = beginReadJob(db, jobs, { name, input })
      running += 1
      try {
        while (true) {
          await openNextSlice(caller)
          const beganMs = performance.now()
          const ended = job.runSlice(() => performance.now() - beganMs >= SLICE_MS)
          if (ended) return ended.value as never
        }
      } finally {
        running -= 1
        job.end()
      }
    },
    async close() {},
    figures: () => ({ running, waiting: 0, refused: 0 }),
  }
}
