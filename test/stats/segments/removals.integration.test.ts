import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/open.ts'
import { SEGMENT_COLUMNS } from '../../../src/store/sqlite/stats/segments/segment.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import {
  ALL_COLUMNS,
  askBothWays,
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
  type TestCall,
  usageOf,
} from '../support/segment-calls.ts'

const query = {
  project_id: PROJECT,
  filter: {},
  startUs: BASE_US,
  endUs: BASE_US + HOUR_US,
  startsUs: Float64Array.of(BASE_US),
  ...ALL_COLUMNS,
  prices: [],
  counting: 'own' as const,
  valuesMax: 1e6,
}

describe('an hour of many segments', () => {
  const PIECE_ROWS = 10
  const ids = Array.from({ length: 5 * PIECE_ROWS }, (_, index) => `m${index}`)
  const callOfMany = (id: string, index: number): TestCall => ({
    id,
    startedUs: BASE_US + index * 1_000_000,
    latencyUs: ((index * 37) % 11) * 7000,
    op: `op${index % 2}`,
    user: 'u',
    run: null,
    isRoot: true,
    isError: index % 3 === 0,
    usage: [usageOf('gpt-4o', 1000 + index, 1)],
  })

  async function openMany() {
    const dataDir = makeTempDir()
    const store = openSqliteStore({ dataDir, ingestQueueMax: 100, segmentRowsMax: PIECE_ROWS })
    for (const [index, id] of ids.entries()) {
      const call = callOfMany(id, index)
      await store.calls.writeParts([{ start: startOf(call), end: endOf(call) }])
    }
    await store.segments.buildAll()
    const db = openDatabase(dataDir)
    onTestFinished(async () => {
      db.close()
      await store.close()
    })
    const heads = () =>
      db.prepare('SELECT segment_key, body FROM stats_segments ORDER BY segment_key').raw().all()
    const isBuilt = () =>
      db.prepare('SELECT built_revision IS NOT NULL FROM stats_hours').pluck().all()
    return { store, db, heads, isBuilt }
  }

  async function expectAsRows(store: SqliteStore, count: number): Promise<void> {
    for (const filter of [{}, { op_names: ['op1'] }, { trace_roots_only: true }]) {
      for (const counting of ['own', 'reported'] as const) {
        const asked = { ...query, filter, counting }
        const { found, fromRows } = await askBothWays(store, asked, [...ids, 'child', 'other'])
        expect(found).toEqual(fromRows)
        if (filter.op_names === undefined) expect(found.calls?.count[0]).toBe(count)
      }
    }
  }

  it('the deletion of one call does not rebuild a whole hour of many segments', async () => {
    const { store, heads, isBuilt } = await openMany()
    const before = heads()
    expect(before).toHaveLength(5)
    const doomed = { project_id: PROJECT, ids: ['m13'], deleted_at_us: 1 }
    await store.calls.deleteCalls(doomed)
    expect(isBuilt()).toEqual([1])
    expect(heads()).toEqual(before)
    await expectAsRows(store, ids.length - 1)
    await store.segments.buildAll()
    const after = heads()
    const isKept = before.map((head) => after.some((other) => isDeepStrictEqual(head, other)))
    expect(isKept).toEqual([true, false, true, true, true])
    await expectAsRows(store, ids.length - 1)
    // And again where the piece was made again already.
    await store.calls.deleteCalls({ ...doomed, ids: ['m14', 'm0'] })
    await expectAsRows(store, ids.length - 3)
    await store.segments.buildAll()
    await expectAsRows(store, ids.length - 3)
  })

  it('an hour remains built when a late child arrives whose tokens its parent reports too', async () => {
    const { store, isBuilt } = await openMany()
    const child = { ...callOfMany('child', 51), isRoot: false, parentId: 'm21' }
    const late = { ...child, usage: [usageOf('gpt-4o', 400, 1)] }
    // Stands before the others in their piece, and goes again.
    const other = callOfMany('other', 55)
    const parts = [other, late].map((call) => ({ start: startOf(call), end: endOf(call) }))
    await store.calls.writeParts(parts)
    expect(isBuilt()).toEqual([1])
    await expectAsChildren(store)
    await store.segments.buildAll()
    await expectAsChildren(store)
    await store.calls.deleteCalls({ project_id: PROJECT, ids: ['other'], deleted_at_us: 1 })
    await expectAsChildren(store)
    await store.segments.buildAll()
    await expectAsChildren(store)
    await store.calls.deleteCalls({ project_id: PROJECT, ids: ['child'], deleted_at_us: 1 })
    expect(isBuilt()).toEqual([1])
    await expectAsRows(store, ids.length)
    await store.segments.buildAll()
    await expectAsRows(store, ids.length)
  })

  async function expectAsChildren(store: SqliteStore): Promise<void> {
    const sums = { ...query, usageColumns: ALL_COLUMNS.usageColumns }
    for (const counting of ['own', 'reported'] as const) {
      const asked = { ...sums, counting }
      const { found, fromRows } = await askBothWays(store, asked, [...ids, 'child', 'other'])
      expect(found).toEqual(fromRows)
    }
  }

  it('an hour built without call ids, as by older versions, is rebuilt from the rows after a deletion', async () => {
    const { store, db, isBuilt } = await openMany()
    db.prepare('DELETE FROM stats_columns WHERE column_key % 16 = ?').run(SEGMENT_COLUMNS.key)
    await store.calls.deleteCalls({ project_id: PROJECT, ids: ['m13'], deleted_at_us: 1 })
    await expectAsRows(store, ids.length - 1)
    expect(isBuilt()).toEqual([0])
    await store.segments.buildAll()
    expect(isBuilt()).toEqual([1])
    await expectAsRows(store, ids.length - 1)
  })

  it('an hour whose recorded changes name no calls, as in older versions, is built from the rows', async () => {
    const { store, db } = await openMany()
    const call = callOfMany('child', 51)
    await store.calls.writeParts([{ start: startOf(call), end: endOf(call) }])
    const { changes } = db
      .prepare(
        "UPDATE stats_changes SET entries_json = json_array(json_remove(entries_json -> 0, '$[7]'))",
      )
      .run()
    expect(changes).toBe(1)
    await expectAsRows(store, ids.length + 1)
    await store.segments.buildAll()
    await expectAsRows(store, ids.length + 1)
  })
})

describe('an hour whose calls cease to be roots', () => {
  it('a parent corrects its children in full segments, in the last one and in none', async () => {
    const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100, segmentRowsMax: 2 })
    onTestFinished(() => store.close())
    const ids = ['c0', 'c1', 'c2', 'c3', 'c4', 'top']
    const write = async (id: string, isRoot: boolean) => {
      const shared = { user: 'u', run: null, parentId: 'top', isError: false, op: 'op' }
      const usage = [usageOf('gpt-4o', 10, 1)]
      const call = { ...shared, id, isRoot, usage, startedUs: BASE_US, latencyUs: 7000 }
      await store.calls.writeParts([{ start: startOf(call), end: endOf(call) }])
    }
    const expectRoots = async (count: number) => {
      const asked = { ...query, filter: { trace_roots_only: true } }
      const { found, fromRows } = await askBothWays(store, asked, ids)
      expect(found.calls?.count[0]).toBe(count)
      expect(found).toEqual(fromRows)
      const all = await askBothWays(store, query, ids)
      expect(all.found).toEqual(all.fromRows)
    }
    for (const id of ['c0', 'c1', 'c2']) await write(id, false)
    await store.segments.buildAll()
    await expectRoots(3)
    for (const id of ['c3', 'c4']) await write(id, false)
    await expectRoots(5)
    await write('top', true)
    await expectRoots(1)
    await store.segments.buildAll()
    await expectRoots(1)
  })
})
