/**
 * The thread that moves committed pages from the log into the database, so that no commit waits for it, and that
 * has the log begin anew before it is too long. It writes no rows.
 */
import { statSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Connection, openCheckpointDatabase } from '../db/connection.ts'
import { type LogGate, openLogGate } from '../db/log-gate.ts'

/** How often it looks at the length of the log, milliseconds. */
const LOOK_EVERY_MS = 100
/** How often pages are moved while commits come, milliseconds. */
const MOVE_EVERY_MS = 500
/** Pages that may be left when the log begins anew, some milliseconds of the writer's time. */
const REST_PAGES = 256
/** Limit: rounds in a row to get down to the rest. */
const ROUNDS_MAX = 8
/** How long the writer may be held up for reads that end, milliseconds: while the log drains, and when it is full. */
const DRAIN_BUSY_MS = 100
const FULL_BUSY_MS = 2000
/** How long the gate stays open after it was shut for too long, milliseconds. */
const OPEN_MS_MIN = 30_000

/** Lengths of the log in bytes, and the quiet after which it is cut to nothing. */
export interface LogLimits {
  /** From here on no read begins until the log has begun anew. */
  readonly drainBytes: number
  /** From here on no write begins either. */
  readonly fullBytes: number
  readonly quietMs: number
  /** How long the gate may be shut: a read of somebody else may never end. */
  readonly shutMsMax: number
}

export interface LogKeeperData {
  /** The database file. */
  readonly path: string
  /** Of createLogGateMemory. */
  readonly gate: SharedArrayBuffer
  readonly limits: LogLimits
}

/** Of a checkpoint: whether somebody was in its way, pages in the log, and how many of them the database has. */
interface LogState {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

/** Runs until the thread is ended. */
export function serveLogKeeper(): void {
  const { path, gate, limits } = workerData as LogKeeperData
  const db = openCheckpointDatabase(path)
  setInterval(createLogLook(db, path, openLogGate(gate), limits), LOOK_EVERY_MS)
}

/** @returns has a look at the log and does what it needs */
export function createLogLook(
  db: Connection,
  path: string,
  gate: LogGate,
  { drainBytes, fullBytes, quietMs, shutMsMax }: LogLimits,
): () => void {
  const hasCommits = createCommitWatch(db)
  let isDirty = false
  let committedMs = performance.now()
  let movedMs = 0
  let shutMs: number | null = null
  let openUntilMs = 0

  function open(): void {
    gate.open()
    shutMs = null
  }

  /** Makes the log begin anew with the next commit. No read may hold on to it then. */
  function shorten(bytes: number): void {
    shutMs ??= performance.now()
    const isFull = bytes >= fullBytes
    if (isFull) gate.fill()
    else gate.drain()
    move(db)
    isDirty = !checkpoint(db, 'RESTART', isFull ? Math.min(FULL_BUSY_MS, shutMsMax) : DRAIN_BUSY_MS)
    if (isDirty && performance.now() - shutMs < shutMsMax) return
    if (isDirty) openUntilMs = performance.now() + OPEN_MS_MIN
    open()
  }

  return () => {
    const nowMs = performance.now()
    if (hasCommits()) {
      isDirty = true
      committedMs = nowMs
    }
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (isDirty && bytes >= drainBytes && nowMs >= openUntilMs) return shorten(bytes)
    if (nowMs - movedMs < MOVE_EVERY_MS) return
    movedMs = nowMs
    const isQuiet = nowMs - committedMs >= quietMs
    if (isQuiet && bytes > 0 && !gate.isCopied()) checkpoint(db, 'TRUNCATE', DRAIN_BUSY_MS)
    else if (isDirty) {
      isDirty = false
      checkpoint(db, 'PASSIVE', 0)
    }
  }
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

/** Moves pages until next to nothing is left: a writer that never rests adds some in each round, fewer in each. */
function move(db: Connection): void {
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const state = run(db, 'PASSIVE')
    if (!state || state.log - state.checkpointed <= REST_PAGES) return
  }
}

/** @returns whether nobody was in its way for that long */
function checkpoint(db: Connection, mode: string, busyMs: number): boolean {
  db.pragma(`busy_timeout = ${busyMs}`)
  return run(db, mode)?.busy === 0
}

/** Null where the disk is full or broken, or another checkpoint runs: the next write tells, and the log has it all. */
function run(db: Connection, mode: string): LogState | null {
  try {
    const [state] = db.pragma(`wal_checkpoint(${mode})`) as [LogState]
    return state
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    return null
  }
}
