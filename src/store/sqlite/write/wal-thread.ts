/**
 * Keeps the log short while calls stream in: a thread of its own moves its pages into the database, the
 * connection that writes only finishes when next to nothing is left.
 *
 * Why: SQLite else moves them inside of a commit, every 4 MB of log. At ten million calls these pages lie
 * all over the file and commits wait for them.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Connection, DATABASE_FILE, finishLog } from '../db/connection.ts'
import type { WalWorkerData } from './wal-serve.ts'

const WORKER_FILE = new URL('./wal-worker.ts', import.meta.url)
/** Commits from which on a thread is worth it; doubled each time that it was lost. */
const COMMITS_BEFORE = 64
/** Pages of SQLite's own limit without the thread, and with it: 256 MB, should it fall behind. */
const AUTOMATIC_PAGES = 1000
const AUTOMATIC_PAGES_BESIDE = 65_536

export interface WalThread {
  /** To be called after each commit. */
  noteCommit(): void
  /** Ends the thread. */
  close(): void
}

/**
 * @param dataDir - a directory, or ':memory:', which has no log
 * @param finishElsewhere - has the connection that writes finish the log; false when it is `db`
 * @param workerFile - the thread's entry; tests give one of their own
 */
export function createWalThread(
  db: Connection,
  dataDir: string,
  finishElsewhere: () => boolean,
  workerFile = WORKER_FILE,
): WalThread {
  let commits = 0
  let commitsBefore = COMMITS_BEFORE
  let worker: Worker | null = null
  let isClosed = dataDir === ':memory:'

  function setAutomatic(pages: number): void {
    if (db.open) db.pragma(`wal_autocheckpoint = ${pages}`)
  }

  /** SQLite does it by itself, until commits come through again. */
  function giveUp(lost: Worker): void {
    if (worker !== lost) return
    worker = null
    commits = 0
    commitsBefore *= 2
    setAutomatic(AUTOMATIC_PAGES)
  }

  /** The next commit then begins the log anew. */
  function finish(): void {
    if (db.open && !finishElsewhere()) finishLog(db)
  }

  function start(): void {
    const workerData: WalWorkerData = { path: join(dataDir, DATABASE_FILE) }
    const started = new Worker(workerFile, { workerData })
    started.unref()
    started.on('message', finish)
    started.on('error', () => giveUp(started))
    started.on('exit', () => giveUp(started))
    worker = started
    setAutomatic(AUTOMATIC_PAGES_BESIDE)
  }

  return {
    noteCommit() {
      if (isClosed || worker) return
      commits += 1
      if (commits === commitsBefore) start()
    },
    close() {
      isClosed = true
      void worker?.terminate()
      worker = null
    },
  }
}
