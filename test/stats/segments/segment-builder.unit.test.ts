import { getEventListeners } from 'node:events'
import { SqliteError } from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ReadCaller } from '../../../src/domain/access/read-caller.ts'
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { ReadPool } from '../../../src/store/sqlite/read/read-pool.ts'
import { createSegmentBuilder } from '../../../src/store/sqlite/stats/segments/build/builder.ts'
import {
  MARK_HOUR,
  SELECT_UNBUILT_HOURS,
} from '../../../src/store/sqlite/stats/segments/segments.sql.ts'
import { createInlineWrites } from '../../store/support/inline-writes.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'

/** A builder over hours that stay dirty; `builds` counts by project. */
function start(buildMs: Readonly<Record<string, number>>, entries = 1) {
  const db = openMigrated()
  const projectOf = new Map<number, string>()
  for (const project_id of Object.keys(buildMs)) {
    const mark = { project_id, hour: 1, rewrites: 0, entries }
    const { hour_key } = db.prepare(MARK_HOUR).get(mark) as { hour_key: number }
    projectOf.set(hour_key, project_id)
  }
  const builds: Record<string, number> = {}
  let listeners = 0
  const run = async (_name: string, { hour_key }: { hour_key: number }, { signal }: ReadCaller) => {
    listeners = getEventListeners(signal, 'abort').length
    const project = projectOf.get(hour_key) as string
    builds[project] = (builds[project] ?? 0) + 1
    await new Promise((resolve) => setTimeout(resolve, buildMs[project]))
    return null
  }
  const reads = { run, close: async () => {} } as unknown as ReadPool
  const writes = createInlineWrites(db)
  const disk = { isBroken: false }
  const broken = breakReads(db, disk)
  const builder = createSegmentBuilder({ db: broken, writes, reads, isAutomatic: true })
  onTestFinished(async () => {
    await builder.close()
    db.close()
  })
  const change = (project_id: string) =>
    db.prepare(MARK_HOUR).get({ project_id, hour: 1, rewrites: 0, entries: 1 })
  return { builds, change, disk, listeners: () => listeners }
}

/** Has looks for hours fail while the disk is broken. */
function breakReads(db: Connection, disk: { readonly isBroken: boolean }): Connection {
  const unbuilt = db.prepare(SELECT_UNBUILT_HOURS)
  const all = (...bound: unknown[]) => {
    if (disk.isBroken) throw new SqliteError('disk I/O error', 'SQLITE_IOERR_READ')
    return unbuilt.all(...bound)
  }
  return { open: true, prepare: () => ({ all }) } as unknown as Connection
}

describe('the builder of segments', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('the builder leaves an hour alone for twenty times its build time, and other hours not', async () => {
    const { builds } = start({ 'acme/large': 3_000, 'acme/small': 10 })
    await vi.advanceTimersByTimeAsync(65_000)
    expect(builds['acme/large']).toBe(1)
    expect(builds['acme/small']).toBeGreaterThan(8)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(builds['acme/large']).toBe(2)
  })

  it.each([
    ['waits for the rest of an hour with few new entries', 1, undefined],
    ['does not wait for the rest of an hour with many', 10_000, 1],
    ['does not leave an hour alone in which very much happens', 40_000, 2],
  ])('%s', async (_name, entries, times) => {
    const { builds, change } = start({ 'acme/demo': 3_000 }, entries)
    for (let ms = 0; ms < 20_000; ms += 500) {
      change('acme/demo')
      await vi.advanceTimersByTimeAsync(500)
    }
    expect(builds['acme/demo']).toBe(times)
  })

  it('the builder survives an unreadable disk and resumes when it is readable again', async () => {
    const { builds, disk } = start({ 'acme/demo': 10 })
    disk.isBroken = true
    await vi.advanceTimersByTimeAsync(10_000)
    expect(builds).toEqual({})
    disk.isBroken = false
    await vi.advanceTimersByTimeAsync(10_000)
    expect(builds['acme/demo']).toBeGreaterThan(0)
  })

  it('the builder leaves no listener on its signal for built hours', async () => {
    const { builds, listeners } = start({ 'acme/demo': 1 })
    await vi.advanceTimersByTimeAsync(100_000)
    expect(builds['acme/demo']).toBeGreaterThan(10)
    expect(listeners()).toBe(0)
  })
})
