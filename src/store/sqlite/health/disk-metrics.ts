/** Measures the size of the database and the free space of its disk. */
import { stat, statfs } from 'node:fs/promises'
import type { DiskMetrics } from '../../api/metrics.ts'

/** @param path - of the database. @returns null when the file system cannot report it */
export async function readDiskMetrics(path: string): Promise<DiskMetrics | null> {
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
