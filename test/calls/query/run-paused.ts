import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { ReadJob } from '../../../src/store/sqlite/read/read-job.ts'

/**
 * Runs a read job that is told at each check that others wait, so that it pauses wherever it can, unless `isDue` says
 * otherwise.
 */
export function runPaused<Input, Output>(
  db: Connection,
  job: ReadJob<Input, Output>,
  input: Input,
  isDue: () => boolean = () => true,
): Output {
  const answer = job(db, input, isDue) as Generator<void, Output>
  let next = answer.next()
  while (!next.done) next = answer.next()
  return next.value
}
