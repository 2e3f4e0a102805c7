/**
 * The thread that moves committed pages from the log into the database, so that no commit waits for it. It
 * writes no rows and takes no lock that a writer needs.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openCheckpointDatabase } from '../db/connection.ts'

/** How often it looks whether something was committed, milliseconds. */
const INTERVAL_MS = 500
/** Pages of 4 KB from which on the log is to begin anew: 64 MB. */
const LOG_PAGES = 16_384
/** Pages that may be left for the writer, some milliseconds of its time. */
const REST_PAGES = 256
/** Limit: rounds in a row to get down to the rest. */
const ROUNDS_MAX = 8

export interface WalWorkerData {
  /** The database file. */
  readonly path: string
}

/** Pages in the log, and how many of them the database has. */
interface LogState {
  readonly log: number
  readonly checkpointed: number
}

/** Runs until the thread is ended. Posts when the log is long and the writer may begin it anew. */
export function serveWalCheckpoints(): void {
  const port = parentPort
  if (port === null) throw new Error('a log worker runs in a worker thread')
  const db = openCheckpointDatabase((workerData as WalWorkerData).path)
  const hasCommits = createCommitWatch(db)
  setInterval(() => {
    if (hasCommits() && moveLog(db)) port.postMessage(null)
  }, INTERVAL_MS)
}

/** Tells whether another connection has committed since it was asked last; at first yes. */
function createCommitWatch(db: Connection): () => boolean {
  let seen: unknown = null
  return () => {
    const version = db.pragma('data_version', { simple: true })
    const isNew = version !== seen
    seen = version
    return isNew
  }
}

/** @returns whether the log is long, after as many rounds as it takes to leave next to nothing */
function moveLog(db: Connection): boolean {
  for (let round = 1; ; round++) {
    const [state] = db.pragma('wal_checkpoint(PASSIVE)') as [LogState]
    if (state.log < LOG_PAGES) return false
    // A writer that never rests adds pages during each round, fewer in each.
    const isDown = state.log - state.checkpointed <= REST_PAGES && round > 1
    if (isDown || round === ROUNDS_MAX) return true
  }
}
