/**
 * The thread that moves committed pages from the log into the database, so that no commit waits for it, and restarts
 * the log before it gets too long. It writes no rows.
 */
import { statSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Connection, openCheckpointDatabase } from '../db/connection.ts'
import { openWalGate, type WalGate } from '../db/wal-gate.ts'

/** Milliseconds between two checks of the log's length. */
const POLL_INTERVAL_MS = 100
/** Milliseconds between two moves of pages while commits come in. */
const MOVE_EVERY_MS = 500
/** Pages that may be left when the log restarts; they cost the writer some milliseconds. */
const REST_PAGES = 256
/** Limit: consecutive rounds to get down to these pages. */
const ROUNDS_MAX = 8
/** Limit: how long reads that end may block the writer, milliseconds: while the log drains, and when it is full. */
const DRAIN_BUSY_MS = 100
const FULL_BUSY_MS = 2000
/** How long the gate stays open after it was closed for too long, milliseconds. */
const OPEN_MS_MIN = 30_000

/** Lengths of the log in bytes, and the idle time after which it is truncated. */
export interface WalLimits {
  /** From this length on, no read begins until the log has restarted. */
  readonly drainBytes: number
  /** From this length on, no write begins either. */
  readonly fullBytes: number
  readonly quietMs: number
  /** How long the gate may be closed: a read of another process may never end. */
  readonly shutMsMax: number
}

export interface WalCheckpointerData {
  /** The database file. */
  readonly path: string
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
  readonly limits: WalLimits
}

/** The result of a checkpoint: whether it was blocked, pages in the log, and how many of them it has moved. */
interface LogState {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

/** Runs until the thread is terminated. */
export function serveWalCheckpointer(): void {
  const { path, gate, limits } = workerData as WalCheckpointerData
  const db = openCheckpointDatabase(path)
  setInterval(createWalCheck(db, path, openWalGate(gate), limits), POLL_INTERVAL_MS)
}

/** @returns a function that checks the log, moves its pages, and restarts or truncates it when needed */
export function createWalCheck(
  db: Connection,
  path: string,
  gate: WalGate,
  { drainBytes, fullBytes, quietMs, shutMsMax }: WalLimits,
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

  /** Lets the log restart with the next commit, for which no read may pin it. */
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

/** @returns a function that tells whether another connection has committed since its last call; true at first */
function createCommitWatch(db: Connection): () => boolean {
  let seen: unknown = null
  return () => {
    const version = db.pragma('data_version', { simple: true })
    const isNew = version !== seen
    seen = version
    return isNew
  }
}

/** Moves pages until few are left: a busy writer adds some in each round, but fewer each time. */
function move(db: Connection): void {
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const state = run(db, 'PASSIVE')
    if (!state || state.log - state.checkpointed <= REST_PAGES) return
  }
}

/** @returns whether the checkpoint completed, waiting at most that long for others */
function checkpoint(db: Connection, mode: string, busyMs: number): boolean {
  db.pragma(`busy_timeout = ${busyMs}`)
  return run(db, mode)?.busy === 0
}

/**
 * Returns null when the disk is full or broken, or another checkpoint runs: the next write reports the fault, and the
 * log still has everything.
 */
function run(db: Connection, mode: string): LogState | null {
  try {
    const [state] = db.pragma(`wal_checkpoint(${mode})`) as [LogState]
    return state
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    return null
  }
}
