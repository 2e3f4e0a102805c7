import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { INSERT_PROJECT } from '../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import {
  DATABASE_FILE,
  openDatabase,
  openReadOnlyDatabase,
} from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { createWalGateMemory } from '../../src/store/sqlite/db/wal-gate.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/open.ts'
import { READ_JOBS } from '../../src/store/sqlite/read/read-jobs.ts'
import { openReadLanes } from '../../src/store/sqlite/read/read-lanes.ts'
import { beginReadJob } from '../../src/store/sqlite/read/reader-serve.ts'
import { readCaller } from '../support/read-caller.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  ALL_COLUMNS,
  askBothWays,
  BASE_US,
  callInTurn,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
} from './support/segment-calls.ts'

const HOURS = 8
const IDS = Array.from({ length: 6 * HOURS }, (_, index) => `c${index}`)

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
/** One bucket needs the latencies of all hours at its end. */
const AT_ONCE = { ...query, startsUs: Float64Array.of(BASE_US) }

async function write(store: SqliteStore, from: number, to: number): Promise<void> {
  const calls = IDS.slice(from, to).map((_, index) => callInTurn(from + index, HOURS))
  await store.calls.writeParts(calls.map((call) => ({ start: startOf(call), end: endOf(call) })))
}

describe('a statistics query', () => {
  it.each([
    ['by hour', query],
    ['in one bucket', AT_ONCE],
  ])(
    '%s returns the same when it pauses after each hour, whatever is built meanwhile',
    async (_name, asked) => {
      const dataDir = makeTempDir()
      const store = openSqliteStore({ dataDir, ingestQueueMax: 100 })
      await write(store, 0, 3 * HOURS)
      await store.segments.buildAll()
      await write(store, 3 * HOURS, IDS.length)
      await store.calls.deleteCalls({ project_id: PROJECT, ids: ['c5', 'c6'], deleted_at_us: 1 })
      const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
      onTestFinished(async () => {
        db.close()
        await store.close()
      })
      const { found } = await askBothWays(store, asked, IDS)
      const job = beginReadJob(db, READ_JOBS, { name: 'stats', input: asked })
      let slices = 0
      for (; ; slices++) {
        const ended = job.runSlice(() => true)
        if (ended) {
          expect(ended.value).toEqual({ result: found, broken: [] })
          break
        }
        if (slices === 2) await store.segments.buildAll()
      }
      expect(slices).toBe(HOURS)
    },
  )

  it('a statistics query stops reading when no caller waits any more', async () => {
    const dataDir = makeTempDir()
    const store = openSqliteStore({ dataDir, ingestQueueMax: 100 })
    onTestFinished(() => store.close())
    await write(store, 0, IDS.length)
    await store.segments.buildAll()
    const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
    onTestFinished(() => void db.close())
    const { found } = await askBothWays(store, query, IDS)
    const left = beginReadJob(db, READ_JOBS, { name: 'stats', input: query })
    expect(left.runSlice(() => true)).toBeNull()
    left.end()
    expect(left.runSlice(() => true)).toEqual({ value: undefined })
    const job = beginReadJob(db, READ_JOBS, { name: 'stats', input: query })
    expect(job.runSlice(() => false)?.value).toEqual({ result: found, broken: [] })
  })

  it('a statistics query completes on the only thread while two projects of one key query very many calls', async () => {
    const CALLS = 60_000
    const dataDir = makeTempDir()
    const db = openDatabase(dataDir)
    migrate(db)
    const addHour = db.prepare(
      'INSERT INTO stats_hours (project_id, hour, built_revision) VALUES (?, ?, NULL)',
    )
    const addCalls = db.prepare(
      `WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${CALLS - 1})
      INSERT INTO calls (project_key, id, trace_id, started_at_us)
      SELECT @project_key, 'c' || n, 't', ${BASE_US} + n * ${(HOURS * HOUR_US) / CALLS} FROM n`,
    )
    const large = ['acme/large', 'acme/larger']
    for (const project_id of large) {
      const { lastInsertRowid: project_key } = db.prepare(INSERT_PROJECT).run(project_id)
      addCalls.run({ project_key })
      for (let hour = 0; hour < HOURS; hour++) addHour.run(project_id, BASE_US / HOUR_US + hour)
    }
    const lanes = openReadLanes({
      db,
      path: join(dataDir, DATABASE_FILE),
      gate: createWalGateMemory(),
      limits: { readers: 1, statsReaders: 1, queueMax: 16, timeoutMs: 60_000 },
    })
    onTestFinished(async () => {
      await Promise.all([lanes.stats.close(), lanes.lists.close(), lanes.build.close()])
      db.close()
    })
    const ended: string[] = []
    const ask = async (project_id: string, keyId: string) => {
      const caller = readCaller({ keyId, project_id })
      const { result } = await lanes.stats.run('stats', { ...query, project_id }, caller)
      ended.push(project_id)
      return result.calls?.count.reduce((sum, count) => sum + count)
    }
    const hostile = large.map((project_id) => ask(project_id, 'hostile'))
    expect(await ask('acme/small', 'other')).toBe(0)
    expect(ended).toEqual(['acme/small'])
    expect(await Promise.all(hostile)).toEqual([CALLS, CALLS])
  })
})
