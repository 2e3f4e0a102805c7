/** The metrics of the node's own store, each from the part that counts it. */
import { stat, statfs } from 'node:fs/promises'
import type {
  DiskMetrics,
  JobMetrics,
  ReadMetrics,
  StoreMetricsSource,
  WriteMetrics,
} from '../../api/metrics.ts'
import { COUNT_UNFINISHED_JOBS } from '../../base/training/training-jobs.sql.ts'
import type { Connection } from '../db/connection.ts'

interface StoreMetricsParts {
  readonly db: Connection
  /** The database file; null in memory. */
  readonly path: string | null
  readonly writes: { figures(): WriteMetrics }
  readonly lanes: { figures(): ReadMetrics[] }
  readonly recordings: { waiting(): number }
}

export function createStoreMetricsSource(parts: StoreMetricsParts): StoreMetricsSource {
  const { db, path, writes, lanes, recordings } = parts
  const countJobs = db.prepare(COUNT_UNFINISHED_JOBS)

  function readJobs(): JobMetrics | null {
    try {
      return countJobs.get() as JobMetrics
    } catch {
      return null
    }
  }

  return {
    readMetrics: async () => ({
      writes: [writes.figures()],
      reads: lanes.figures(),
      elsewhere: [],
      recordingsWaiting: recordings.waiting(),
      disk: path === null ? null : await readDiskMetrics(path),
      trainingJobs: readJobs(),
    }),
  }
}

/** @param path - of the database. @returns null when the file system cannot report it */
async function readDiskMetrics(path: string): Promise<DiskMetrics | null> {
  try {
    const [database, log, disk] = await Promise.all([
      stat(path),
      // There is no log before the first commit.
      stat(`${path}-wal`).catch(() => ({ size: 0 })),
      statfs(path),
    ])
    return { database: database.size, log: log.size, free: disk.bavail * disk.bsize }
  } catch {
    return null
  }
}
