/** Serves writes over the one connection that writes: in a thread of its own, or inline where there is none. */
import { v7 as uuidv7 } from 'uuid'
import { type Connection, closeDatabase, finishLog } from '../db/connection.ts'
import { type Failure, renderFailure } from '../db/thread-failure.ts'
import { createHourMarks } from '../stats/hour-marks.ts'
import { createGroupCommit } from './group-commit.ts'
import { createWriteJobs, type WriteInput, type WriteJobs } from './write-jobs.ts'

export interface WriteRequest<Name extends keyof WriteJobs = keyof WriteJobs> {
  readonly id: number
  readonly name: Name
  readonly input: WriteInput<Name>
  readonly isUnacknowledged: boolean
  /** As of sizeOf. */
  readonly bytes: number
}

/** To the server. `finish_log`: the log has next to nothing left. `close`: what waits is written before it ends. */
export type WriterRequest = readonly WriteRequest[] | 'finish_log' | 'close'

export interface WriteResult extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** From the server, after each commit: what became of its writes. */
export type WriterReply = readonly WriteResult[]

/** @returns takes requests; the last one is `close`, which closes the connection */
export function createWriteServer(
  db: Connection,
  reply: (reply: WriterReply) => void,
): (request: WriterRequest) => void {
  const commit = createGroupCommit(db)
  const jobs = createWriteJobs({ db, hours: createHourMarks(db, commit), newId: uuidv7 })
  let results: WriteResult[] = []

  function send(): void {
    reply(results)
    results = []
  }

  /** All results of a commit are there before the microtask that the first one asks for. */
  function report(result: WriteResult): void {
    results.push(result)
    if (results.length === 1) queueMicrotask(send)
  }

  function apply({ id, name, input, isUnacknowledged, bytes }: WriteRequest): void {
    const run = jobs[name] as (input: unknown) => unknown
    commit
      .write(() => run(input), { isUnacknowledged, bytes })
      .then(
        (value) => report({ id, value }),
        (error) => report({ id, ...renderFailure(error) }),
      )
  }

  return (request) => {
    if (request === 'finish_log') finishLog(db)
    else if (request === 'close') {
      commit.close()
      closeDatabase(db)
    } else request.forEach(apply)
  }
}
