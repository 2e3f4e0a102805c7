import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Connection, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate, readMigrations } from '../../../src/store/sqlite/db/migrate.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/open.ts'
import { createInlineReadPool } from '../../../src/store/sqlite/read/inline-reads.ts'
import { READ_JOBS } from '../../../src/store/sqlite/read/read-jobs.ts'
import type { ReadPool } from '../../../src/store/sqlite/read/read-pool.ts'
import { createSegmentBuilder } from '../../../src/store/sqlite/stats/segments/build/builder.ts'
import { SEGMENT_COLUMNS } from '../../../src/store/sqlite/stats/segments/segment.ts'
import { INVALIDATE_HOUR } from '../../../src/store/sqlite/stats/segments/segments.sql.ts'
import { createInlineWrites } from '../../store/support/inline-writes.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import {
  ALL_COLUMNS,
  askBothWays,
  BASE_US,
  callInTurn,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
} from '../support/segment-calls.ts'

const HOURS = 3
const IDS = Array.from({ length: 12 }, (_, index) => `c${index}`)

const query = {
  project_id: PROJECT,
  filter: {},
  startUs: BASE_US,
  endUs: BASE_US + HOURS * HOUR_US,
  startsUs: Float64Array.from({ length: HOURS }, (_, hour) => BASE_US + hour * HOUR_US),
  ...ALL_COLUMNS,
  prices: [],
  counting: 'own' as const,
  valuesMax: 1e6,
}

function open(dataDir: string): SqliteStore {
  return openSqliteStore({ dataDir, ingestQueueMax: 100 })
}

/** A store in a directory with calls in some hours, of which none is built. */
async function openFilled(dataDir: string): Promise<SqliteStore> {
  const store = open(dataDir)
  const parts = IDS.map((_, index) => callInTurn(index, HOURS))
  await store.calls.writeParts(parts.map((call) => ({ start: startOf(call), end: endOf(call) })))
  return store
}

function countDirty(dataDir: string): number {
  const db = openDatabase(dataDir)
  const count = db
    .prepare('SELECT count(*) FROM stats_hours WHERE built_revision IS NOT revision')
    .pluck()
    .get()
  db.close()
  return count as number
}

async function expectRight(store: SqliteStore): Promise<void> {
  const { found, fromRows } = await askBothWays(store, query, IDS)
  expect(found.calls?.count.reduce((sum, count) => sum + count)).toBe(IDS.length)
  expect(found).toEqual(fromRows)
}

describe('the builder of segments', () => {
  it('the segment builder resumes after a stop and rebuilds changed hours', async () => {
    const dataDir = makeTempDir()
    const first = await openFilled(dataDir)
    expect(await first.segments.buildAll()).toBe(HOURS)
    await first.calls.deleteCalls({ project_id: PROJECT, ids: ['c0'], deleted_at_us: 1 })
    await first.close()
    expect(countDirty(dataDir)).toBe(1)
    const again = open(dataDir)
    onTestFinished(() => again.close())
    expect(await again.segments.buildAll()).toBe(1)
    expect(await again.segments.buildAll()).toBe(0)
    expect(countDirty(dataDir)).toBe(0)
  })

  it('a segment of an hour that was rewritten during the build is discarded', async () => {
    const dataDir = makeTempDir()
    const filled = await openFilled(dataDir)
    await filled.close()
    const db = openDatabase(dataDir)
    const writes = createInlineWrites(db)
    const inline = createInlineReadPool(db, READ_JOBS)
    const raise = db.prepare(INVALIDATE_HOUR)
    const reads = {
      ...inline,
      run: async (...job: Parameters<ReadPool['run']>) => {
        const built = await inline.run(...job)
        raise.run({ hour_key: 1 })
        return built
      },
    } as ReadPool
    const builder = createSegmentBuilder({ db, writes, reads, isAutomatic: false })
    expect(await builder.buildAll()).toBe(HOURS - 1)
    const built = db.prepare('SELECT hour_key FROM stats_hours WHERE built_revision IS NULL')
    expect(built.pluck().all()).toEqual([1])
    await builder.close()
    db.close()
  })

  it('hours without recorded changes are built from the rows', async () => {
    const dataDir = makeTempDir()
    const filled = await openFilled(dataDir)
    await filled.close()
    const db = openDatabase(dataDir)
    db.exec('DELETE FROM stats_changes')
    db.close()
    const again = open(dataDir)
    onTestFinished(() => again.close())
    await again.segments.buildAll()
    expect(await again.segments.buildAll()).toBe(HOURS)
    await expectRight(again)
  })

  it.each([
    ['stats_segments', "X'00'"],
    ['stats_columns', 'zeroblob(length(body))'],
    ['stats_columns', 'substr(body, 1, length(body) - 1)'],
  ])(
    'a broken blob in %s (%s) is reported to the builder, and responses remain right',
    async (table, blob) => {
      const dataDir = makeTempDir()
      const first = await openFilled(dataDir)
      await first.segments.buildAll()
      await first.close()
      const db = openDatabase(dataDir)
      db.exec(`UPDATE ${table} SET body = ${blob}`)
      db.close()
      const again = open(dataDir)
      onTestFinished(() => again.close())
      await expectRight(again)
      expect(countDirty(dataDir)).toBe(HOURS)
      expect(await again.segments.buildAll()).toBe(HOURS)
      await expectRight(again)
    },
  )
})

describe('a reader of segments', () => {
  it('a reader reads an hour once, however often it is queried, until it is rebuilt', async () => {
    const dataDir = makeTempDir()
    const store = await openFilled(dataDir)
    onTestFinished(() => store.close())
    await store.segments.buildAll()
    const before = await store.stats.aggregate(query, readCaller())
    const db = openDatabase(dataDir)
    onTestFinished(() => void db.close())
    db.exec("UPDATE stats_columns SET body = X'00'")
    expect(await store.stats.aggregate(query, readCaller())).toEqual(before)
    expect(countDirty(dataDir)).toBe(0)
    db.prepare(INVALIDATE_HOUR).run({ hour_key: 1 })
    const another = { ...callInTurn(0, HOURS), id: 'another' }
    await store.calls.writeParts([{ start: startOf(another), end: endOf(another) }])
    await store.segments.buildAll()
    const { found, fromRows } = await askBothWays(store, query, [...IDS, 'another'])
    expect(found).toEqual(fromRows)
    expect(found.calls?.count[0]).toBe((before.calls?.count[0] ?? 0) + 1)
  })
})

describe('a segment that was built without sums of roots', () => {
  it('a segment without sums of roots still yields the statistics of roots', async () => {
    const dataDir = makeTempDir()
    const store = await openFilled(dataDir)
    onTestFinished(() => store.close())
    const child = { ...callInTurn(IDS.length, HOURS), isRoot: false, parentId: IDS[0] as string }
    await store.calls.writeParts([{ start: startOf(child), end: endOf(child) }])
    await store.segments.buildAll()
    const roots = { ...query, filter: { trace_roots_only: true } }
    const before = await store.stats.aggregate(roots, readCaller())
    expect(before.calls?.count.reduce((sum, count) => sum + count)).toBe(IDS.length)
    const db = openDatabase(dataDir)
    const { changes } = db
      .prepare('DELETE FROM stats_columns WHERE column_key % 16 = ?')
      .run(SEGMENT_COLUMNS.roots)
    db.close()
    expect(changes).toBe(HOURS)
    const again = open(dataDir)
    onTestFinished(() => again.close())
    expect(await again.stats.aggregate(roots, readCaller())).toEqual(before)
    expect(countDirty(dataDir)).toBe(0)
  })
})

describe('the migration to segments', () => {
  it('the migration to segments covers the hours of all projects, before and after 1970', () => {
    const dataDir = makeTempDir()
    const older = join(dataDir, 'migrations')
    mkdirSync(older)
    const source = fileURLToPath(new URL('../../../migrations/sqlite/', import.meta.url))
    for (const { name } of readMigrations().slice(0, 8))
      cpSync(join(source, name), join(older, name))
    const db = openDatabase(dataDir)
    onTestFinished(() => void db.close())
    migrate(db, older)
    const times = [-HOUR_US - 1, -1, 0, 1, HOUR_US, 5 * HOUR_US - 1, null]
    for (const project of ['a/b', 'c/d']) for (const us of times) insertCall(db, project, us)
    insertCall(db, 'e/f', 7)
    migrate(db)
    const hours = db.prepare('SELECT project_id, hour FROM stats_hours ORDER BY 1, 2').raw().all()
    const expected = [-2, -1, 0, 1, 4]
    expect(hours).toEqual([
      ...['a/b', 'c/d'].flatMap((project) => expected.map((hour) => [project, hour])),
      ['e/f', 0],
    ])
  })
})

function insertCall(db: Connection, project: string, startedAtUs: number | null): void {
  db.prepare('INSERT INTO calls (project_id, id, started_at_us) VALUES (?, ?, ?)').run(
    project,
    `c${startedAtUs}`,
    startedAtUs,
  )
}
