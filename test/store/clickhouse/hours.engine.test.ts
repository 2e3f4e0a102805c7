import { describe, expect, it } from 'vitest'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import type { CallsFilter } from '../../../src/schemas/calls/calls-filter.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import type { ClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import {
  BASE_US,
  callInTurn,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
} from '../../stats/support/segment-calls.ts'
import { readCaller } from '../../support/read-caller.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openBothWays } from './open-both-ways.ts'
import { openTestStores } from './open-clickhouse.ts'

const HOURS = 3

function callsOf(from: number, to: number) {
  return Array.from({ length: to - from }, (_, at) => {
    const call = callInTurn(from + at, HOURS)
    return { start: startOf(call), end: endOf(call) }
  })
}

/** Calls and the median latency by bucket of some hours. */
async function read({ stats }: Stores, bucketHours = 1, filter: CallsFilter = {}) {
  const starts = Array.from({ length: HOURS }, (_, hour) => BASE_US + hour * HOUR_US)
  const query = {
    project_id: PROJECT,
    filter,
    startUs: BASE_US,
    endUs: BASE_US + HOURS * HOUR_US,
    startsUs: Float64Array.from(starts.filter((_, hour) => hour % bucketHours === 0)),
    prices: [],
    counting: 'own' as const,
    valuesMax: 1000,
    usageColumns: [],
    callColumns: toColumns([
      { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
      { metric: 'latency_ms', aggregations: [], percentiles: [50] },
    ]),
  }
  const { calls } = await stats.aggregate(query, readCaller())
  return (calls?.values ?? []).map((values) => [...values])
}

/** A call of the first hour of which statistics hear nothing, so that they show whether rows are read. */
function addUnrecorded(db: ClickHouse) {
  const row = { project_id: PROJECT, started_at_us: BASE_US, id: 'unrecorded', has_start: 1 }
  return db.insert('calls', [row], 'unrecorded')
}

describe.skipIf(!hasClickHouse)('hours of statistics in ClickHouse', () => {
  it('are read in place of the rows once they are built, by hour, by several hours and by op', async () => {
    const { db, stores } = await openBothWays()
    await stores.calls.writeParts(callsOf(0, 9))
    const [byHour, byTwo] = [await read(stores), await read(stores, 2)]
    expect(byHour).toEqual([
      [3, 3, 3],
      [21, 28, 35],
    ])
    await expect(stores.hours.buildAll()).resolves.toBe(HOURS)
    await addUnrecorded(db)
    await expect(read(stores)).resolves.toEqual(byHour)
    await expect(read(stores, 2)).resolves.toEqual(byTwo)
    await expect(read(stores, 1, { op_names: ['op'] })).resolves.toEqual(byHour)
    await expect(read(stores, 2, { op_names: ['op', 'o*'] })).resolves.toEqual(byTwo)
    await expect(stores.hours.buildAll()).resolves.toBe(0)
  })

  it('are left for the rows where they have few calls, which take less time', async () => {
    const { url, db, stores } = await openBothWays()
    await stores.calls.writeParts(callsOf(0, 9))
    await stores.hours.buildAll()
    await addUnrecorded(db)
    const [exactly, more] = [
      await openTestStores({ url, builtMin: 9 }),
      await openTestStores({ url, builtMin: 10 }),
    ]
    expect((await read(exactly))[0]).toEqual([3, 3, 3])
    expect((await read(more))[0]).toEqual([4, 3, 3])
  })

  it('are read from the rows again after a write, whichever process it came through', async () => {
    const { url, db, stores } = await openBothWays()
    const other = await openTestStores({ url })
    await stores.calls.writeParts(callsOf(0, 9))
    await stores.hours.buildAll()
    await addUnrecorded(db)
    await other.calls.writeParts(callsOf(9, 10))
    await expect(read(stores)).resolves.toEqual([
      [5, 3, 3],
      [31.5, 28, 35],
    ])
    await expect(read(stores, 2)).resolves.toEqual([
      [8, 3],
      [28, 35],
    ])
    await expect(other.hours.buildAll()).resolves.toBe(1)
    await expect(read(stores)).resolves.toEqual(await read(other))
  })

  it('leave out calls that were deleted or have expired since', async () => {
    const { stores } = await openBothWays()
    await stores.calls.writeParts(callsOf(0, 9))
    await stores.hours.buildAll()
    await stores.calls.deleteCalls({ project_id: PROJECT, ids: ['c5'], deleted_at_us: BASE_US })
    await expect(read(stores)).resolves.toEqual([
      [3, 3, 2],
      [21, 28, 35],
    ])
    const expiry = { project_id: PROJECT, before_us: BASE_US + HOUR_US, ends_before_us: 0 }
    await stores.removal.expireCalls(expiry, new AbortController().signal)
    const left = await read(stores)
    expect(left[0]).toEqual([0, 3, 2])
    await stores.hours.buildAll()
    await expect(read(stores)).resolves.toEqual(left)
  })

  it('hold calls from before 1970', async () => {
    const { stores } = await openBothWays()
    const call = { ...callInTurn(0, 1), startedUs: -1 }
    await stores.calls.writeParts([{ start: startOf(call), end: endOf(call) }])
    await expect(stores.hours.buildAll()).resolves.toBe(1)
    const query = {
      project_id: PROJECT,
      filter: {},
      startUs: -HOUR_US,
      endUs: HOUR_US,
      startsUs: Float64Array.of(-HOUR_US, 0),
      prices: [],
      counting: 'own' as const,
      valuesMax: 10,
      usageColumns: [],
      callColumns: toColumns([{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }]),
    }
    const { calls } = await stores.stats.aggregate(query, readCaller())
    expect([...(calls?.values[0] ?? [])]).toEqual([1, 0])
  })

  it('are not built while a write has begun that has not ended', async () => {
    const { db, stores } = await openBothWays()
    await stores.calls.writeParts(callsOf(0, 9))
    const hour = BASE_US / HOUR_US
    await db.insert('hour_changes', [{ project_id: PROJECT, hour, begun: 7 }], 'begun')
    await expect(stores.hours.buildAll()).resolves.toBe(HOURS - 1)
    await db.insert('hour_changes', [{ project_id: PROJECT, hour, ended: 7 }], 'ended')
    await expect(stores.hours.buildAll()).resolves.toBe(1)
  })

  it('are built by others when the process of a write died ten minutes ago', async () => {
    const { db, stores } = await openBothWays()
    await stores.calls.writeParts(callsOf(0, 9))
    await stores.hours.buildAll()
    const hour = BASE_US / HOUR_US
    await db.command('TRUNCATE TABLE hour_changes')
    const long_ago = '2026-01-01 00:00:00'
    const died = { project_id: PROJECT, hour, begun: 7, changed_at: long_ago }
    await db.insert('hour_changes', [died], 'died')
    await expect(stores.hours.buildAll()).resolves.toBe(1)
  })

  it('are built by a poll at rest: by the first all, by later ones those that changed in the last hour', async () => {
    const { db, stores } = await openBothWays()
    const change = async (hour: number, minutesAgo: number) => {
      const changed_at = (Date.now() - minutesAgo * 60_000) * 1000
      await db.command(`INSERT INTO hour_changes (project_id, hour, begun, ended, changed_at)
        SELECT '${PROJECT}', ${hour}, 7, 7, fromUnixTimestamp64Micro(${changed_at}, 'UTC')`)
    }
    const poll = async () => {
      await stores.hours.poll()
      const built = await db.read<{ hour: number }>(
        'SELECT hour FROM built_hours ORDER BY hour',
        {},
      )
      return built.map(({ hour }) => hour)
    }
    await Promise.all([change(1, 120), change(2, 5), change(3, 0)])
    expect(await poll()).toEqual([1, 2])
    await Promise.all([change(4, 120), change(5, 50)])
    expect(await poll()).toEqual([1, 2, 5])
  })
})
