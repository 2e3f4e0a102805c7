import { expect, it, onTestFinished } from 'vitest'
import { createInlineReadPool } from '../../../src/store/sqlite/read/inline-reads.ts'
import { READ_JOBS } from '../../../src/store/sqlite/read/read-jobs.ts'
import { createSegmentBuilder } from '../../../src/store/sqlite/stats/segments/build/builder.ts'
import {
  INVALIDATE_HOUR,
  MARK_HOUR,
} from '../../../src/store/sqlite/stats/segments/segments.sql.ts'
import { createInlineWrites } from '../../store/support/inline-writes.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'
import { measureHeap } from '../../support/heap.ts'

const HOURS = 300
const ROUNDS = 3
/** Bytes per hour on average: less than a leaked promise or listener. */
const CACHED_BYTES_MAX = 100

it('the heap and open resources do not grow with the number of built hours', async () => {
  const db = openMigrated()
  const builder = createSegmentBuilder({
    db,
    writes: createInlineWrites(db),
    reads: createInlineReadPool(db, READ_JOBS),
    isAutomatic: false,
  })
  onTestFinished(async () => {
    await builder.close()
    db.close()
  })
  const mark = db.prepare(MARK_HOUR)
  const spoil = db.prepare(INVALIDATE_HOUR)
  let hour = 0
  async function buildHours(): Promise<void> {
    for (let n = 0; n < HOURS; n++) {
      const marked = mark.get({ project_id: 'acme/demo', hour: hour++, rewrites: 0, entries: 0 })
      spoil.run({ hour_key: (marked as { hour_key: number }).hour_key })
    }
    expect(await builder.buildAll()).toBe(HOURS)
  }
  await buildHours()
  const open = process.getActiveResourcesInfo().length
  const kept: number[] = []
  let before = await measureHeap()
  for (let round = 0; round < ROUNDS; round++) {
    await buildHours()
    const after = await measureHeap()
    kept.push((after - before) / HOURS)
    before = after
  }
  expect(Math.min(...kept)).toBeLessThan(CACHED_BYTES_MAX)
  // Other tests of the process may have opened something; one left by each hour would be far more.
  expect(process.getActiveResourcesInfo().length).toBeLessThan(open + HOURS)
})
