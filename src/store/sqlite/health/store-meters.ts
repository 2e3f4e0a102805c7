/** The figures of the node's own store, each from the part that counts it. */
import type { JobFigures, ReadFigures, StoreMeters, WriteFigures } from '../../api/figures.ts'
import { COUNT_UNFINISHED_JOBS } from '../../base/training/training-jobs.sql.ts'
import type { Connection } from '../db/connection.ts'
import { readDiskFigures } from './disk-figures.ts'

interface StoreMeterParts {
  readonly db: Connection
  /** The database file; null in memory. */
  readonly path: string | null
  readonly writes: { figures(): WriteFigures }
  readonly lanes: { figures(): ReadFigures[] }
  readonly recordings: { waiting(): number }
}

export function createStoreMeters(parts: StoreMeterParts): StoreMeters {
  const { db, path, writes, lanes, recordings } = parts
  const countJobs = db.prepare(COUNT_UNFINISHED_JOBS)

  function readJobs(): JobFigures | null {
    try {
      return countJobs.get() as JobFigures
    } catch {
      return null
    }
  }

  return {
    readFigures: async () => ({
      writes: [writes.figures()],
      reads: lanes.figures(),
      elsewhere: [],
      recordingsWaiting: recordings.waiting(),
      disk: path === null ? null : await readDiskFigures(path),
      trainingJobs: readJobs(),
    }),
  }
}
