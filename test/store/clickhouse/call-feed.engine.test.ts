import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { buildEvaluatorApp, openRunner, ruleScorers } from '../../evaluators/evaluator-app.ts'
import { BASE_US, callInTurn, endOf, PROJECT, startOf } from '../../stats/support/segment-calls.ts'
import { borrowDatabase, hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const HOUR_MS = 3_600_000
/** Of one read. */
const PART_MAX = 2_000

async function connect() {
  const url = await borrowDatabase()
  const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  return { url, db }
}

async function open() {
  const { url, db } = await connect()
  return { db, stores: await openTestStores({ url }) }
}

interface StoredRow {
  readonly id: string
  /** Before now. */
  readonly agoMs: number
  readonly project_id?: string
  readonly has_end?: 0 | 1
}

/** Rows that ClickHouse took at a time of its own clock. */
async function insert(db: ClickHouse, rows: readonly StoredRow[]) {
  const now = Date.now()
  const stored = rows.map(({ agoMs, ...row }) => ({
    project_id: PROJECT,
    has_start: 1,
    has_end: 1,
    started_at_us: BASE_US,
    trace_id: `t-${row.id}`,
    op_name: 'op',
    stored_at: new Date(now - agoMs).toISOString().replace('T', ' ').slice(0, -1),
    ended_at_us: BASE_US + 1,
    inputs_json: '{}',
    output_json: '"yes"',
    ...row,
  }))
  const ids = stored.map(({ project_id, id, started_at_us }) => ({ project_id, id, started_at_us }))
  await db.insert('calls', stored, `rows ${rows[0]?.id}`)
  await db.insert('call_ids', ids, `ids ${rows[0]?.id}`)
}

describe.skipIf(!hasClickHouse)('the feed of calls in ClickHouse', () => {
  it('has ended calls of some projects in the order in which they were stored, each once', async () => {
    const { db, stores } = await open()
    const { callFeed } = stores
    await insert(db, [
      { id: 'a', agoMs: HOUR_MS },
      { id: 'b', agoMs: 3 * HOUR_MS },
      { id: 'c', agoMs: 2 * HOUR_MS },
      { id: 'open', agoMs: 2 * HOUR_MS, has_end: 0 },
      { id: 'other', agoMs: 2 * HOUR_MS, project_id: 'acme/other' },
    ])
    const { calls, position } = await callFeed.readFeed(0, [PROJECT])
    expect(calls.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
    const named = { project_id: PROJECT, trace_id: 't-b', thread_id: null, op_name: 'op' }
    expect(calls[0]).toMatchObject({ id: 'b', position: expect.any(Number), ...named })
    expect(position).toBeGreaterThan(calls[2]?.position ?? Infinity)
    const next = await callFeed.readFeed(position, [PROJECT])
    expect(next.calls).toEqual([])
    const later = await callFeed.readFeed(calls[1]?.position ?? 0, [PROJECT])
    expect(later.calls.map(({ id }) => id)).toEqual(['a'])
    const both = await callFeed.readFeed(0, [PROJECT, 'acme/other'])
    expect(both.calls).toHaveLength(4)
  })

  it('holds calls back that were stored in the last seconds, as slower inserts may be older', async () => {
    const { stores } = await open()
    const before = await stores.callFeed.findEnd()
    const call = callInTurn(0, 1)
    await stores.calls.writeParts([{ start: startOf(call), end: endOf(call) }])
    const after = await stores.callFeed.findEnd()
    expect(after).toBeGreaterThan(before)
    expect(await stores.callFeed.readFeed(before, [PROJECT])).toEqual({
      calls: [],
      position: before,
    })
    const { calls, position } = await stores.callFeed.readFeed(before - 1e9, [PROJECT])
    expect(calls).toEqual([])
    expect(position).toBeLessThan(before)
  })

  it('has all calls of one time in one part, and the others in the next', async () => {
    const { db, stores } = await open()
    const at = (agoMs: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `${agoMs}-${index}`, agoMs }))
    await insert(db, [...at(2 * HOUR_MS, PART_MAX + 5), ...at(HOUR_MS, 3)])
    const first = await stores.callFeed.readFeed(0, [PROJECT])
    expect(first.calls).toHaveLength(PART_MAX + 5)
    expect(first.position).toBe(first.calls[0]?.position)
    const second = await stores.callFeed.readFeed(first.position, [PROJECT])
    expect(second.calls).toHaveLength(3)
    expect(second.position).toBeGreaterThan(second.calls[0]?.position ?? Infinity)
  })

  it('has evaluators score calls that were stored after their creation', async () => {
    const { url, db } = await connect()
    const clickhouse = { url, cluster: null }
    const app = await buildEvaluatorApp({}, { store: 'clickhouse', clickhouse })
    const createdUs = (Date.now() - HOUR_MS) * 1000
    vi.spyOn(app.deps.callFeed, 'findEnd').mockResolvedValueOnce(createdUs)
    const { id } = await app.create()
    await insert(db, [
      { id: 'older', agoMs: 2 * HOUR_MS },
      { id: 'newer', agoMs: HOUR_MS / 2 },
    ])
    const runner = openRunner(app.deps, ruleScorers())
    for (let round = 0; round < 2; round++) await runner.runRound()
    const found = await app.results()
    expect(found.map(({ weave_ref }) => weave_ref.split('/').at(-1))).toEqual(['newer'])
    expect(await app.read(id)).toMatchObject({ scored: 1, waiting: 0 })
  })
})
