/** Waits for the builder of statistics. */
import { openReadOnlyDatabase } from '../../src/store/sqlite/db/connection.ts'

const BUILD_SECONDS_MAX = 1800

/** Waits until every hour has its segment. @returns seconds */
export async function waitForSegments(file: string): Promise<number> {
  const begin = performance.now()
  const db = openReadOnlyDatabase(file)
  const countDirty = db
    .prepare('SELECT count(*) FROM stats_hours WHERE built_revision IS NOT revision')
    .pluck()
  try {
    while (countDirty.get() !== 0) {
      const seconds = (performance.now() - begin) / 1000
      if (seconds > BUILD_SECONDS_MAX) throw new Error(`${countDirty.get()} hours have no segment`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  } finally {
    db.close()
  }
  return (performance.now() - begin) / 1000
}
