/**
 * The thread that calls are written in, over a connection of its own: no answer of the server waits for
 * the disk. It stands still while the main connection has its turn.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { finishLog, openDatabase } from '../db/connection.ts'
import { type Failure, renderFailure } from '../db/thread-failure.ts'
import { lowerThreadPriority } from '../db/thread-priority.ts'
import { createRecordServer, type LostRecords } from '../recordings/record-serve.ts'
import { createHourMarks } from '../stats/hour-marks.ts'
import { createGroupCommit } from './group-commit.ts'
import { createWriteJobs, type WriteInput, type WriteJobs } from './write-jobs.ts'

/** Pages of the log at which a commit moves it after all, should the thread that does so fall behind: 256 MB. */
const LOG_PAGES_MAX = 65_536

/**
 * Answers go first where processors are short: a commit is long beside them, and while it runs more gathers for the
 * next one.
 */
const NICENESS = 10

/** What the thread is started with. */
export interface WriteWorkerData {
  readonly dataDir: string
  /** Of recorded calls. */
  readonly ring: SharedArrayBuffer
}

export interface WriteRequest<Name extends keyof WriteJobs = keyof WriteJobs> {
  readonly id: number
  readonly name: Name
  readonly input: WriteInput<Name>
  readonly isUnacknowledged: boolean
}

/**
 * To the thread. `records`: the ring has some. `pause`: answered when nothing is written any more, until `resume`. `finish_log`: the log
 * has next to nothing left. `close`: what waits is written before the thread ends.
 */
export type WriteWorkerRequest =
  | readonly WriteRequest[]
  | 'records'
  | 'pause'
  | 'resume'
  | 'finish_log'
  | 'close'

export interface WriteResult extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** From the thread: what became of writes and records. */
export type WriteWorkerReply = 'paused' | WriteReport

export interface WriteReport {
  readonly results: readonly WriteResult[]
  readonly lost: readonly LostRecords[]
}

/** Serves the writes of the process that started this thread, until it says `close`. */
export function serveWrites(): void {
  const port = parentPort
  if (port === null) throw new Error('a write worker runs in a worker thread')
  const { dataDir, ring } = workerData as WriteWorkerData
  lowerThreadPriority(NICENESS)
  const db = openDatabase(dataDir)
  db.pragma(`wal_autocheckpoint = ${LOG_PAGES_MAX}`)
  const turns = createTurns()
  const commit = createGroupCommit(db, { takeTurn: turns.take })
  const jobs = createWriteJobs(db, createHourMarks(db, commit))
  const report = createReports((results, lost) => {
    port.postMessage({ results, lost } satisfies WriteWorkerReply)
  })
  const records = createRecordServer({ ring, commit, jobs, onWritten: report.addLost })

  function apply({ id, name, input, isUnacknowledged }: WriteRequest): void {
    const run = jobs[name] as (input: unknown) => unknown
    commit
      .write(() => run(input), { isUnacknowledged })
      .then(
        (value) => report.addResult({ id, value }),
        (error) => report.addResult({ id, ...renderFailure(error) }),
      )
  }

  port.on('message', (request: WriteWorkerRequest) => {
    if (typeof request !== 'string') return request.forEach(apply)
    if (request === 'records') void records.drain()
    if (request === 'pause') {
      turns.pause()
      port.postMessage('paused' satisfies WriteWorkerReply)
    }
    if (request === 'resume') turns.resume()
    if (request === 'finish_log') finishLog(db)
    if (request === 'close') {
      records.finish()
      commit.close()
      // After the last results, which are posted in the next turn.
      setImmediate(() => setImmediate(() => port.close()))
      // The main connection is closed later and empties the log.
      port.once('close', () => db.close())
    }
  })
}

/** Lets transactions run, or keeps the next one until it may. */
function createTurns() {
  let isPaused = false
  let held: (() => void) | null = null

  function runOrHold(run: () => void): void {
    if (isPaused) held = run
    else run()
  }

  return {
    /** At most one at a time is asked for. */
    take: (run: () => void) => void setImmediate(runOrHold, run),
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
      const run = held
      held = null
      run?.()
    },
  }
}

/** Gathers what a commit comes to, so that it goes in one message. */
function createReports(
  send: (results: readonly WriteResult[], lost: readonly LostRecords[]) => void,
) {
  let results: WriteResult[] = []
  let lost: LostRecords[] = []
  let isScheduled = false

  function sendSoon(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const [gathered, gatheredLost] = [results, lost]
      results = []
      lost = []
      send(gathered, gatheredLost)
    })
  }

  return {
    addResult(result: WriteResult): void {
      results.push(result)
      sendSoon()
    },
    addLost(records: readonly LostRecords[]): void {
      lost.push(...records)
      sendSoon()
    },
  }
}
