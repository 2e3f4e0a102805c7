/** The pools of readers: lists and searches, statistics, and building. None waits for another. */
import type { ReadKind, ReadMetrics, StoreObserver } from '../../api/metrics.ts'
import type { Connection } from '../db/connection.ts'
import { createInlineReadPool } from './inline-reads.ts'
import { READ_JOBS } from './read-jobs.ts'
import { createReadPool, type ReadPool, type ReadPoolOptions } from './read-pool.ts'

/** Limits of the heavy reads that clients request. */
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
/** Lists and searches pause, so a reader alternates between several. */
const LIST_JOBS_PER_READER = 8
/** Statistics do, too; each holds its tables and the segments it reads. */
const STATS_JOBS_PER_READER = 4
/** Builds one hour at a time. The largest takes seconds, but nobody waits for it. */
const BUILD = { readers: 1, queueMax: 1, timeoutMs: 600_000, readersKept: 0, niceness: 15 }

interface ReadLanes {
  /** Reads that pause: lists of calls, feedback, objects and tables. */
  readonly lists: ReadPool
  readonly stats: ReadPool
  /** Builds the segments that make statistics fast. */
  readonly build: ReadPool
  figures(): ReadMetrics[]
}

interface ReadLanesOptions {
  /** Used for a database in memory. */
  readonly db: Connection
  /** The database file; null for a database in memory. */
  readonly path: string | null
  readonly limits?: ReadLimits | undefined
  /** From createWalGateMemory. */
  readonly gate: SharedArrayBuffer
  /** Observes the reads. Default: none. */
  readonly watch?: Pick<StoreObserver, 'readEnded'> | undefined
}

export function openReadLanes(options: ReadLanesOptions): ReadLanes {
  const { db, path, limits = LIMITS, gate, watch } = options
  const open = (kind: ReadKind, pool: Omit<ReadPoolOptions, 'path' | 'gate'>) => {
    const opened =
      path === null ? createInlineReadPool(db, READ_JOBS) : createReadPool({ path, gate, ...pool })
    return watch === undefined
      ? opened
      : watchReads(opened, (seconds) => watch.readEnded(kind, seconds))
  }
  const { readers, statsReaders, queueMax, timeoutMs } = limits
  const lists = open('lists', {
    readers,
    queueMax,
    timeoutMs,
    jobsPerReader: LIST_JOBS_PER_READER,
  })
  const stats = open('stats', {
    readers: statsReaders,
    queueMax,
    timeoutMs,
    jobsPerReader: STATS_JOBS_PER_READER,
  })
  const build = open('build', BUILD)
  return {
    lists,
    stats,
    build,
    figures: () => [
      { kind: 'lists', ...lists.figures() },
      { kind: 'stats', ...stats.figures() },
      { kind: 'build', ...build.figures() },
    ],
  }
}

/** @param onEnd - called with the duration of each read */
function watchReads(pool: ReadPool, onEnd: (seconds: number) => void): ReadPool {
  return {
    ...pool,
    async run(name, input, caller) {
      const beganMs = performance.now()
      try {
        return await pool.run(name, input, caller)
      } finally {
        onEnd((performance.now() - beganMs) / 1000)
      }
    },
  }
}
