import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { DATABASE_FILE, openReadOnlyDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { type HourSink, readHours } from '../../../src/store/sqlite/stats/stats-hours.ts'
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

const HOURS = 20
const BUILT = [7, 8]
/** An hour without segments that has more calls than the others. */
const [LARGE, LARGE_CALLS] = [12, 100]
const FEW = Array.from({ length: 3 * HOURS }, (_, index) => callInTurn(index, HOURS))
const MANY = Array.from({ length: LARGE_CALLS }, (_, index) =>
  callInTurn((3 + index) * HOURS + LARGE, HOURS),
)

it('consecutive hours of few calls without segments are read by one statement', async () => {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  onTestFinished(async () => {
    db.close()
    await store.close()
  })
  const calls = [...FEW, ...MANY]
  const isBuilt = (startedUs: number) => BUILT.includes(Math.floor((startedUs - BASE_US) / HOUR_US))
  for (const built of [true, false]) {
    const written = calls.filter(({ startedUs }) => isBuilt(startedUs) === built)
    await store.calls.writeParts(
      written.map((call) => ({ start: startOf(call), end: endOf(call) })),
    )
    if (built) await store.segments.buildAll()
  }
  const query = {
    project_id: PROJECT,
    filter: {},
    startUs: BASE_US + HOUR_US / 2,
    endUs: BASE_US + HOURS * HOUR_US,
    startsUs: Float64Array.from({ length: HOURS }, (_, hour) => BASE_US + (hour + 0.5) * HOUR_US),
  }
  const hourOf = (us: number) => (us - BASE_US) / HOUR_US
  const scanned: number[][] = []
  const summed: number[] = []
  const sink: HourSink<object, null> = {
    needsRows: false,
    holdsBuckets: true,
    sum: () => ({}),
    add: (_sums, { hourUs }) => void summed.push(hourOf(hourUs)),
    leaveBuckets: () => undefined,
    // biome-ignore lint/correctness/useYield: nothing to wait for.
    *scanRows({ startUs, endUs }) {
      scanned.push([hourOf(startUs), hourOf(endUs)])
      return false
    },
    finish: () => null,
  }
  expect([
    ...readHours(
      db,
      query,
      () => false,
      () => sink,
    ),
  ]).toEqual([])
  expect(scanned).toEqual([
    [0.5, 7],
    [9, LARGE],
    [LARGE + 1, HOURS],
  ])
  expect(summed).toEqual([...BUILT, LARGE])

  const asked = { ...query, ...ALL_COLUMNS, prices: [], counting: 'own' as const, valuesMax: 1e6 }
  const { found, fromRows } = await askBothWays(
    store,
    asked,
    calls.map(({ id }) => id),
  )
  expect(found).toEqual(fromRows)
})
