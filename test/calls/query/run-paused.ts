import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { ReadJob } from '../../../src/store/sqlite/read/read-job.ts'

/**
 * Runs a read job for which others wait at each check, so that it pauses wherever it can, unless `isDue` says
 * otherwise.
 */
export function runPaused<Input, Output>(
  db: Connection,
  job: ReadJob<Input, Output>,
  input: Input,
  isDue: () => boolean = () => true,
): Output {
  const steps = job(db, input, isDue) as Generator<void, Output>
  let next = steps.next()
  while (!next.done) next = steps.next()
  return next.value
}
