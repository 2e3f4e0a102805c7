/**
 * Keeps the log short while calls stream in: a separate thread moves its pages into the database and restarts it
 * before it gets too long.
 *
 * Why: otherwise SQLite moves them inside a commit, every 4 MB of log. At ten million calls these pages are spread
 * over the whole file, and commits wait for them.
 */
import { extname } from 'node:path'
import { startThread, type Thread } from '../../../threads/thread.ts'
import { openWalGate } from '../db/wal-gate.ts'
import type { WalCheckpointerData, WalLimits } from './wal-checkpointer-serve.ts'

const ENTRY = new URL(`./wal-checkpointer-entry${extname(import.meta.url)}`, import.meta.url)
/** Commits after which the thread is started; doubled each time the thread dies. */
const COMMITS_BEFORE = 8
/** The log stays below 128 MB: a commit may be large, and the length is checked every 0.1 s. */
const LIMITS: WalLimits = {
  drainBytes: 64 * 1024 * 1024,
  fullBytes: 96 * 1024 * 1024,
  quietMs: 5000,
  shutMsMax: 5000,
}

interface WalCheckpointer {
  /** Must be called after each commit. */
  noteCommit(): void
  /** Ends the thread. */
  close(): void
}

interface WalCheckpointerOptions {
  /** The database file; null for a database in memory, which has no log. */
  readonly path: string | null
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
  readonly limits?: WalLimits
  /** The entry module of the thread; tests pass their own. */
  readonly entry?: URL
}

export function createWalCheckpointer(options: WalCheckpointerOptions): WalCheckpointer {
  const { path, gate, limits = LIMITS, entry = ENTRY } = options
  let commits = 0
  let commitsBefore = COMMITS_BEFORE
  let thread: Thread<never, never> | null = null
  let isClosed = false

  /** The writer checkpoints by itself until enough commits have passed. */
  function giveUp(): void {
    thread = null
    commits = 0
    commitsBefore *= 2
    openWalGate(gate).open()
  }

  function start(path: string) {
    const data: WalCheckpointerData = { path, gate, limits }
    return startThread<never, never>(entry, { data, isUnref: true, onLost: giveUp })
  }

  return {
    noteCommit() {
      if (isClosed || thread || path === null) return
      commits += 1
      if (commits === commitsBefore) thread = start(path)
    },
    close() {
      isClosed = true
      thread?.terminate()
      thread = null
      openWalGate(gate).open()
    },
  }
}
