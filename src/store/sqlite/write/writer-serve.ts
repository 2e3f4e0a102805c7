/** Serves writes over the only writing connection: in the writer thread, or inline for a database in memory. */
import { randomBytes } from 'node:crypto'
import { createOrderedIds } from '../../../domain/time/ordered-ids.ts'
import type { Notify, ThreadServer } from '../../../threads/serve-thread.ts'
import { createNameKeys } from '../calls/columns/id-columns.ts'
import { type Connection, closeDatabase } from '../db/connection.ts'
import { watchDatabasePath } from '../db/database-path.ts'
import { createWalGateMemory, openWalGate, type WalGate } from '../db/wal-gate.ts'
import { createHourMarks } from '../stats/hour-marks.ts'
import { copyDatabase } from './database-copy.ts'
import { type Committed, createGroupCommit } from './group-commit.ts'
import { createWriteJobs, type WriteInput, type WriteJobs } from './write-jobs.ts'

const US_PER_MS = 1000

/** The `workerData` of the writer. */
export interface WriterData {
  readonly dataDir: string
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
}

interface WriteRequest<Name extends keyof WriteJobs = keyof WriteJobs> {
  readonly name: Name
  readonly input: WriteInput<Name>
  readonly isUnacknowledged: boolean
  /** From sizeOf. */
  readonly bytes: number
}

/** Requests a copy of the database. The reply is why the copy failed, or null. */
interface CopyRequest {
  /** The path of the target file. */
  readonly copyTo: string
  /** From createCopyMemory. */
  readonly progress: SharedArrayBuffer
}

export type WriterRequest = WriteRequest | CopyRequest

/**
 * @param notify - called after each commit, before its writes settle
 * @param gate - the gate of this database's log
 * @returns a server whose close commits what waits and closes the connection
 */
export function createWriterServer(
  db: Connection,
  notify: Notify<Committed>,
  gate: WalGate = openWalGate(createWalGateMemory()),
): ThreadServer<WriterRequest, unknown> {
  const commit = createGroupCommit(db, {
    awaitRoom: gate.awaitWrite,
    onCommit: (committed) => notify(committed, true),
  })
  const jobs = createWriteJobs({
    db,
    hours: createHourMarks(db, commit),
    keys: createNameKeys(db, commit),
    newId: createOrderedIds(() => Date.now() * US_PER_MS, randomBytes),
  })
  if (!db.memory) commit.join(watchDatabasePath(db.name))
  return {
    run(request) {
      if ('copyTo' in request) return copyDatabase(db, gate, request.copyTo, request.progress)
      const { name, input, ...options } = request
      const run = jobs[name] as (input: unknown) => unknown
      return commit.write(() => run(input), options)
    },
    close() {
      commit.close()
      closeDatabase(db)
    },
  }
}
