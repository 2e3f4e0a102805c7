/** The pools of readers: lists and searches, statistics, and building, none of which waits for another. */
import type { Connection } from '../db/connection.ts'
import { createInlineReadPool } from './inline-reads.ts'
import { READ_JOBS } from './read-jobs.ts'
import { createReadPool, type ReadPool, type ReadPoolOptions } from './read-pool.ts'

/** Limits of the heavy reads that are asked for. */
export interface ReadLimits {
  /** Readers of lists and searches. */
  readonly readers: number
  /** Readers of statistics. */
  readonly statsReaders: number
  /** Reads of each kind that may wait. */
  readonly queueMax: number
  readonly timeoutMs: number
}

const LIMITS: ReadLimits = { readers: 1, statsReaders: 1, queueMax: 16, timeoutMs: 60_000 }
/** Lists and searches pause, so that a reader takes turns between a few. */
const LIST_JOBS_PER_READER = 8
/** Statistics, too; each holds its tables and what it reads of pieces. */
const STATS_JOBS_PER_READER = 4
/** One hour at a time. The largest takes seconds, but nobody waits for it. */
const BUILD = { readers: 1, queueMax: 1, timeoutMs: 600_000, readersKept: 0, niceness: 15 }

interface ReadLanes {
  /** Reads that pause: lists of calls, feedback, objects and tables. */
  readonly lists: ReadPool
  readonly stats: ReadPool
  /** What makes statistics fast. */
  readonly build: ReadPool
}

interface ReadLanesOptions {
  /** Used where the database lives in memory alone. */
  readonly db: Connection
  /** The database file; null for a database in memory. */
  readonly path: string | null
  readonly limits?: ReadLimits | undefined
  /** Of createLogGateMemory. */
  readonly gate: SharedArrayBuffer
}

export function openReadLanes({ db, path, limits = LIMITS, gate }: ReadLanesOptions): ReadLanes {
  if (path === null) {
    const inline = createInlineReadPool(db, READ_JOBS)
    return { lists: inline, stats: inline, build: inline }
  }
  const open = (options: Omit<ReadPoolOptions, 'path' | 'gate'>) =>
    createReadPool({ path, gate, ...options })
  const { readers, statsReaders, queueMax, timeoutMs } = limits
  return {
    lists: open({ readers, queueMax, timeoutMs, jobsPerReader: LIST_JOBS_PER_READER }),
    stats: open({
      ...{ readers: statsReaders, queueMax, timeoutMs, jobsPerReader: STATS_JOBS_PER_READER },
    }),
    build: open(BUILD),
  }
}
