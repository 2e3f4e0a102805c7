import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { ReadJob } from '../../../src/store/sqlite/read/read-job.ts'

/** What a read job answers when each look says that others wait, so that it pauses wherever it can. */
export function runPaused<Input, Output>(
  db: Connection,
  job: ReadJob<Input, Output>,
  input: Input,
): Output {
  const answer = job(db, input, () => true) as Generator<void, Output>
  let next = answer.next()
  while (!next.done) next = answer.next()
  return next.value
}
