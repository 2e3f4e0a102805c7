/** Serves writes over the one connection that writes: in a thread of its own, or inline where there is none. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import { createNameKeys } from '../calls/columns/name-keys.ts'
import { type Connection, closeDatabase } from '../db/connection.ts'
import { createLogGateMemory, type LogGate, openLogGate } from '../db/log-gate.ts'
import { type Failure, renderFailure } from '../db/thread-failure.ts'
import { createHourMarks } from '../stats/hour-marks.ts'
import { copyDatabase } from './database-copy.ts'
import { createGroupCommit } from './group-commit.ts'
import { createWriteJobs, type WriteInput, type WriteJobs } from './write-jobs.ts'

const US_PER_MS = 1000

export interface WriteRequest<Name extends keyof WriteJobs = keyof WriteJobs> {
  readonly id: number
  readonly name: Name
  readonly input: WriteInput<Name>
  readonly isUnacknowledged: boolean
  /** As of sizeOf. */
  readonly bytes: number
}

/** Of a copy of the database, beside the writes. Its value is why it failed, or null. */
interface CopyRequest {
  readonly id: number
  /** The file. */
  readonly copyTo: string
  /** Of createCopyMemory. */
  readonly progress: SharedArrayBuffer
}

/** To the server. `close`: what waits is written before it ends. */
export type WriterRequest = readonly WriteRequest[] | CopyRequest | 'close'

export interface WriteResult extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** From the server, after each commit. */
export interface WriterReply {
  /** What became of its writes. */
  readonly results: readonly WriteResult[]
  /** Milliseconds that it took; null: it failed, or there was none. */
  readonly commitMs: number | null
}

/**
 * @param gate - of the log of this database
 * @returns takes requests; the last one is `close`, which closes the connection
 */
export function createWriterServer(
  db: Connection,
  reply: (reply: WriterReply) => void,
  gate: LogGate = openLogGate(createLogGateMemory()),
): (request: WriterRequest) => void {
  let commitMs: number | null = null
  const commit = createGroupCommit(db, {
    awaitRoom: gate.awaitWrite,
    onEnd(ms) {
      commitMs = ms
    },
  })
  const jobs = createWriteJobs({
    db,
    hours: createHourMarks(db, commit),
    keys: createNameKeys(db, commit),
    newId: createOrderedIds(() => Date.now() * US_PER_MS, randomBytes),
  })
  let results: WriteResult[] = []

  function send(): void {
    reply({ results, commitMs })
    results = []
    commitMs = null
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
    if (request === 'close') {
      commit.close()
      closeDatabase(db)
    } else if ('copyTo' in request) {
      const { id, copyTo, progress } = request
      void copyDatabase(db, gate, copyTo, progress).then((value) => report({ id, value }))
    } else request.forEach(apply)
  }
}
