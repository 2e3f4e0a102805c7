/** Runs work that SQLite shares with PostgreSQL: reads on this thread, and writes by the same names in the writer. */
import type { StepRuns } from '../../base/db/steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { Writes } from './writes.ts'

/** @param writes - its registry has the writes (write-jobs.ts), of which the types cannot tell by a name that varies */
export function createStepRuns<Shared>(db: Connection, writes: Writes): StepRuns<Shared> {
  return {
    read: createStepReader(db),
    write: (name, input) => writes.run(name as never, input as never) as Promise<never>,
  }
}
