import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { DATABASE_FILE, openReadOnlyDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { READ_JOBS } from '../../../src/store/sqlite/read/read-jobs.ts'
import { beginReadJob } from '../../../src/store/sqlite/read/reader-serve.ts'
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
} from '../support/segment-calls.ts'

vi.mock('../../../src/store/sqlite/stats/segments/hour-cache.ts', async (original) => ({
  ...(await original<typeof import('../../../src/store/sqlite/stats/segments/hour-cache.ts')>()),
  CACHED_BYTES_MAX: 0,
}))

const HOURS = 6
const ids = Array.from({ length: 20 * HOURS }, (_, index) => `c${index}`)

function callOf(id: string, index: number): TestCall {
  return {
    id,
    startedUs: BASE_US + Math.floor((index * HOURS * HOUR_US) / ids.length),
    latencyUs: ((index * 37) % 101) * 1e6,
    op: 'op',
    user: 'u',
    run: null,
    isRoot: true,
    isError: false,
    usage: [],
  }
}

it.each([
  ['an hour', 0, 1],
  ['an hour from the half', 0.5, 1],
  ['an hour and a half', 0.25, 1.5],
  ['five minutes', 0, 1 / 12],
  ['all', 0, HOURS],
])('percentiles of %s are right without a cache of read hours', async (_name, from, length) => {
  const dataDir = makeTempDir()
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  onTestFinished(async () => {
    db.close()
    await store.close()
  })
  const calls = ids.map(callOf)
  await store.calls.writeParts(calls.map((call) => ({ start: startOf(call), end: endOf(call) })))
  await store.segments.buildAll()
  const firstUs = BASE_US + (from === 0 ? 0 : from - length) * HOUR_US
  const endUs = BASE_US + HOURS * HOUR_US
  const starts: number[] = []
  for (let us = firstUs; us < endUs; us += length * HOUR_US) starts.push(us)
  const query = {
    project_id: PROJECT,
    filter: {},
    startUs: BASE_US,
    endUs,
    prices: [],
    valuesMax: 1e6,
    ...ALL_COLUMNS,
    startsUs: Float64Array.from(starts),
    counting: 'own' as const,
  }
  const { fromRows } = await askBothWays(store, query, ids)
  for (const isPausing of [false, true]) {
    const job = beginReadJob(db, READ_JOBS, { name: 'stats', input: query })
    let ended = job.runSlice(() => isPausing)
    while (!ended) ended = job.runSlice(() => isPausing)
    expect(ended.value).toEqual({ result: fromRows, broken: [] })
  }
})
