/** Serves writes over the only writing connection: in the writer thread, or inline for a database in memory. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import { type Failure, renderFailure } from '../../../threads/thread-failure.ts'
import { createNameKeys } from '../calls/columns/id-columns.ts'
import { type Connection, closeDatabase } from '../db/connection.ts'
import { watchDatabasePath } from '../db/database-path.ts'
import { createWalGateMemory, openWalGate, type WalGate } from '../db/wal-gate.ts'
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
  /** From sizeOf. */
  readonly bytes: number
}

/** Requests a copy of the database. The value of its result is why the copy failed, or null. */
interface CopyRequest {
  readonly id: number
  /** The path of the target file. */
  readonly copyTo: string
  /** From createCopyMemory. */
  readonly progress: SharedArrayBuffer
}

/** To the server. `close` writes what waits before it ends. */
export type WriterRequest = readonly WriteRequest[] | CopyRequest | 'close'

export interface WriteResult extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** From the server, after each commit. */
export interface WriterReply {
  /** The results of its writes. */
  readonly results: readonly WriteResult[]
  /** Its duration in milliseconds; null: it failed, or there was none. */
  readonly commitMs: number | null
}

/**
 * @param gate - the gate of this database's log
 * @returns a function that takes requests; the last one is `close`, which closes the connection
 */
export function createWriterServer(
  db: Connection,
  reply: (reply: WriterReply) => void,
  gate: WalGate = openWalGate(createWalGateMemory()),
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
  if (!db.memory) commit.join(watchDatabasePath(db.name))
  let results: WriteResult[] = []

  function send(): void {
    reply({ results, commitMs })
    results = []
    commitMs = null
  }

  /** All results of a commit are collected before the microtask that the first one schedules. */
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
