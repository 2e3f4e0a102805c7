/** Lists that follow refs, by the paths of refs stored with each call, or else by its text. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { countSelected, selectCalls } from '../../../src/store/sqlite/calls/query/calls-scan.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { newObject } from '../../objects/object-store-contract.ts'
import { startOf } from '../../store/calls/call-store-contract.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { runPaused } from './run-paused.ts'

const project_id = 'acme/demo'
const REACH = { refScheme: 'weave', projects: [project_id] }
const CALLS = 600
const idOf = (n: number) => `c${String(n).padStart(3, '0')}`
const modelOf = (n: number) => `weave:///acme/demo/object/model-${n % 7}:v0`
const sizeIs = (value: number) => ({
  query: { $expr: { $eq: [{ $getField: 'inputs.model.size' }, { $literal: value }] } },
})
const EXPANDED = { project_id, expand_columns: ['inputs.model'] }

/** Call n uses model n modulo 7, whose size that number is. */
async function fill(dataDir: string): Promise<void> {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  for (let size = 0; size < 7; size++) {
    await store.objects.createObject(newObject({ size }, { object_id: `model-${size}` }))
  }
  const starts = Array.from({ length: CALLS }, (_, n) =>
    startOf({
      id: idOf(n),
      trace_id: 't',
      inputs: { model: modelOf(n), n },
      started_at: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
    }),
  )
  await store.calls.writeParts(starts.map((start) => ({ start, end: null })))
  await store.close()
}

/** The calls, changed by a statement. */
async function openChanged(sql: string) {
  const dataDir = makeTempDir()
  await fill(dataDir)
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  db.exec(sql)

  return {
    /** Numbers of the calls of a list. */
    list(request: object): number[] {
      const selection = resolveCallsSelection({ ...EXPANDED, ...request }, REACH)
      const { keys } = runPaused(db, selectCalls, { selection, cursor: null })
      const find = db.prepare('SELECT id FROM calls WHERE call_key = ?').pluck()
      return Array.from(keys, (key) => Number((find.get(key) as string).slice(1)))
    },
    count: (request: object) =>
      runPaused(db, countSelected, resolveCallsSelection({ ...EXPANDED, ...request }, REACH)),
  }
}

const all = Array.from({ length: CALLS }, (_, n) => n)
const ofSize = (size: number) => all.filter((n) => n % 7 === size)

describe('a list that reads the target of a ref', () => {
  it('reads no text of calls whose refs are known by their places', async () => {
    const { list, count } = await openChanged("UPDATE call_bodies SET inputs_json = '{}'")
    expect(list(sizeIs(3))).toEqual(ofSize(3))
    expect(count(sizeIs(3))).toMatchObject({ count: ofSize(3).length })
    const bySize = [{ field: 'inputs.model.size', direction: 'desc' as const }]
    expect(list({ sort_by: bySize, limit: 2 })).toEqual([594, 587])
    expect(list({ sort_by: bySize, limit: 2, ...sizeIs(4) })).toEqual([599, 592])
  })

  it.each([
    ['all', ''],
    ['every third', 'WHERE call_key % 3 = 0'],
    ['the first half', `WHERE call_key < ${CALLS / 2}`],
  ])('reads the texts of those without: %s', async (_, which) => {
    const { list, count } = await openChanged(`UPDATE call_refs SET path_key = NULL ${which}`)
    expect(list(sizeIs(3))).toEqual(ofSize(3))
    expect(list({ ...sizeIs(3), limit: 10, offset: 5 })).toEqual(ofSize(3).slice(5, 15))
    const newest = [{ field: 'started_at', direction: 'desc' as const }]
    expect(list({ ...sizeIs(3), sort_by: newest })).toEqual(ofSize(3).reverse())
    expect(count(sizeIs(3))).toMatchObject({ count: ofSize(3).length })
  })

  it('distinguishes calls with the same ref by their ids', async () => {
    const { list } = await openChanged("UPDATE call_bodies SET inputs_json = '{}'")
    const isCall = { $eq: [{ $getField: 'id' }, { $literal: idOf(10) }] }
    const { $expr } = sizeIs(3).query
    expect(list({ query: { $expr: { $and: [$expr, isCall] } } })).toEqual([10])
    const others = { $and: [$expr, { $not: [isCall] }] }
    expect(list({ query: { $expr: others } })).toEqual(ofSize(3).filter((n) => n !== 10))
  })

  it('accepts an object instead of a ref', async () => {
    const { list } = await openChanged(`
      DELETE FROM call_refs WHERE call_key % 2 = 0;
      UPDATE call_bodies SET inputs_json = '{"model":{"size":3}}' WHERE call_key % 2 = 0;
    `)
    // The first call has the key 1.
    expect(list(sizeIs(3))).toEqual(all.filter((n) => n % 2 === 1 || n % 7 === 3))
  })
})
