/** Lists of more calls than one statement reads, many of which began at the same time. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { idText } from '../../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import {
  type CallsBatch,
  type CallsCursor,
  countSelected,
  selectCalls,
} from '../../../src/store/sqlite/calls/query/calls-scan.ts'
import {
  beginWalk,
  type FoundKey,
  findLatencyBound,
  walkKeys,
} from '../../../src/store/sqlite/calls/query/calls-walk.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { startOf } from '../../store/calls/call-store-contract.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { runPaused } from './run-paused.ts'

const project_id = 'acme/demo'
const REACH = { refScheme: 'weave', projects: [project_id] }
const CALLS = 45_000
/** The time at which 20,000 calls began. */
const BUSY_US = Date.UTC(2026, 0, 1) * 1000

/** A number that every id has, by the number of its call. */
const NUMBER = `(n * 7919) % ${CALLS}`

/** Copies of two calls with other ids and times: before, at and after the busy time. Each second one has a UUID. */
const COPY_CALLS = `
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${CALLS - 1})
INSERT INTO calls (project_key, id, trace_id, op_key, started_at_us, storage_size_bytes, deleted_at_us)
SELECT
  project_key,
  iif(n % 2 = 0, printf('c%05d', ${NUMBER}), unhex(printf('c%05d%026d', ${NUMBER}, 0))),
  trace_id,
  op_key,
  ${BUSY_US} + CASE WHEN n < 10000 THEN (n - 10000) / 3 WHEN n < 30000 THEN 0 ELSE (n - 30000) / 7 END,
  n % 5,
  CASE WHEN n % 11 = 0 THEN 1 END
FROM numbers
JOIN calls ON calls.id = CASE WHEN n % 3 = 0 THEN 'x' ELSE 'y' END
`

interface Row {
  readonly call_key: number
  readonly id: string
  readonly started_at_us: number
  readonly bytes: number
  readonly op: 'x' | 'y'
}

const SELECT_ROWS = `
SELECT call_key, ${idText('calls.id')} AS id, started_at_us, storage_size_bytes AS bytes, ops.op_name AS op
FROM calls
JOIN ops USING (op_key)
WHERE deleted_at_us IS NULL
`

async function open() {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  const parts = ['x', 'y'].map((id) => ({ start: startOf({ id, op_name: id }), end: null }))
  await store.calls.writeParts(parts)
  await store.close()
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  db.exec(COPY_CALLS)
  db.exec("UPDATE calls SET deleted_at_us = 1 WHERE id IN ('x', 'y')")
  const rows = db.prepare(SELECT_ROWS).all() as Row[]
  const ascending = rows.sort(
    (one, other) => one.started_at_us - other.started_at_us || (one.id < other.id ? -1 : 1),
  )

  return {
    db,
    ascending,
    list(request: object, batchKeys: number): number[] {
      const selection = resolveCallsSelection({ project_id, ...request }, REACH)
      const found: number[] = []
      let cursor: CallsCursor | null = null
      do {
        const batch: CallsBatch = runPaused(db, selectCalls, { selection, cursor, batchKeys })
        found.push(...batch.keys)
        cursor = batch.next
      } while (cursor !== null)
      return found
    },
    count: (request: object) =>
      runPaused(db, countSelected, resolveCallsSelection({ project_id, ...request }, REACH)),
  }
}

describe('a walk over many calls', () => {
  it('visits each once and in order, in both directions, from any position', async () => {
    const { ascending, list, count } = await open()
    const since = new Date(BUSY_US / 1000 + 1).toISOString()
    const isSince = { $gte: [{ $getField: 'started_at' }, { $literal: since }] }
    const isOp = { $eq: [{ $getField: 'op_name' }, { $literal: 'x' }] }
    const ofX = ({ op }: Row) => op === 'x'
    const asked: readonly (readonly [object, (row: Row) => boolean])[] = [
      [{}, () => true],
      [{ offset: 3000, limit: 30_000 }, () => true],
      [{ offset: 19_000, limit: 1500 }, () => true],
      [{ filter: { op_names: ['x'] }, offset: 9 }, ofX],
      [{ query: { $expr: isSince } }, ({ started_at_us: us }) => us >= BUSY_US + 1000],
    ]
    for (const [request, isWanted] of asked) {
      const wanted = ascending.filter(isWanted)
      const { offset = 0, limit = CALLS } = request as { offset?: number; limit?: number }
      for (const direction of ['asc', 'desc'] as const) {
        const rows = direction === 'asc' ? wanted : wanted.toReversed()
        const expected = rows.slice(offset, offset + limit).map(({ call_key }) => call_key)
        const sort_by = [{ field: 'started_at', direction }]
        const found = list({ ...request, sort_by }, direction === 'asc' ? 7001 : 50_000)
        expect([request, direction, found.length]).toEqual([request, direction, expected.length])
        // Why not toEqual: it takes long over so many where they differ.
        expect(found.findIndex((key, at) => key !== expected[at])).toBe(-1)
      }
      if ('offset' in request) continue
      const counted = wanted.slice(0, limit)
      const storage_size_bytes = counted.reduce((sum, { bytes }) => sum + bytes, 0)
      expect(count(request)).toEqual({ count: counted.length, storage_size_bytes })
    }
    expect(count({ limit: 17_000 }).count).toBe(17_000)
    expect(count({ limit: 0, query: { $expr: isOp } })).toEqual({ count: 0, storage_size_bytes: 0 })
  })

  it('reads only the calls within the bound of a page that is sorted by latency', async () => {
    const { db, ascending } = await open()
    // The first ones take longest, and each tenth runs.
    const ms = `(${BUSY_US} + 1000000 - started_at_us) / 500`
    db.exec(`
UPDATE calls SET ended_at_us = iif(call_key % 10 = 0, NULL, started_at_us + 1000 * ${ms})`)
    const latencyOf = ({ started_at_us }: Row) =>
      Math.trunc((BUSY_US + 1_000_000 - started_at_us) / 500)
    const ended = ascending.filter(({ call_key }) => call_key % 10 !== 0)
    for (const direction of ['asc', 'desc'] as const) {
      const sort_by = [{ field: 'summary.weave.latency_ms', direction }]
      const request = { project_id, sort_by, offset: 40, limit: 60 }
      const selection = resolveCallsSelection(request, REACH)
      const place = beginWalk(db)
      const findBound = (_db: typeof db, _query: null, checkpoint: () => boolean) =>
        findLatencyBound(db, selection, place, checkpoint)
      const latencyBound = runPaused(db, findBound, null)
      const latencies = ended.map(latencyOf).sort((one, other) => one - other)
      const [inOrder, isWithin] =
        direction === 'asc'
          ? [latencies, (ms: number, bound: number) => ms <= bound]
          : [latencies.toReversed(), (ms: number, bound: number) => ms >= bound]
      const bound = inOrder[99] ?? Number.NaN
      expect(latencyBound).toEqual({ direction, latency_ms: bound })
      const walked: number[] = []
      const take = function* (keys: readonly FoundKey[]) {
        walked.push(...keys.map(([key]) => key))
        return true
      }
      const walk = (_db: typeof db, _query: null, checkpoint: () => boolean) =>
        walkKeys(db, { ...selection, latencyBound }, place, checkpoint, take)
      runPaused(db, walk, null)
      const within = ended.filter((row) => isWithin(latencyOf(row), bound))
      expect(walked.sort()).toEqual(within.map(({ call_key }) => call_key).sort())
    }
  })
})
