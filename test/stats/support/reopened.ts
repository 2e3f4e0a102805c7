/** The statistics of a data directory whose server is gone, held against the naive ones. */
import { expect } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { naiveStats, type Question, type RawCall, toStatsBody } from './naive-stats.ts'
import { BASE_US, priceFinder } from './raw-calls.ts'
import { URL } from './stats-fixtures.ts'

export const PROJECT = 'acme/kill'
export const HOUR_US = 3600e6

const ASKED: readonly Omit<Question, 'startUs' | 'endUs'>[] = [
  { granularity: 3600, timezone: 'America/New_York', filter: {} },
  { granularity: 600, timezone: 'Asia/Kathmandu', filter: { op_names: ['b:*'] } },
  { granularity: 86_400, timezone: 'UTC', filter: { trace_roots_only: true } },
  { granularity: 7200, timezone: 'UTC', filter: { thread_ids: ['th1'] } },
]
const WINDOW = { startUs: BASE_US + 11, endUs: BASE_US + 60 * HOUR_US + 7 }
export const QUESTIONS: readonly Question[] = ASKED.map((rest) => ({ ...WINDOW, ...rest }))

/** The statistics of a data directory, before and after all segments are built, are those of the calls. */
export async function expectStats(
  dataDir: string,
  calls: readonly RawCall[],
  questions: readonly Question[] = QUESTIONS,
): Promise<void> {
  const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
  const { calls: callStore, stats, prices } = store
  const app = await buildTestApp({}, { calls: callStore, stats, prices })
  try {
    for (const isBuilt of [false, true]) {
      if (isBuilt) await store.segments.buildAll()
      for (const asked of questions) {
        // Another window, so that no answer is cached.
        const question = isBuilt ? { ...asked, endUs: asked.endUs + 1 } : asked
        const { body } = await app.post(URL, toStatsBody(PROJECT, question))
        const expected = naiveStats(calls, question, priceFinder([]))
        expect(body.call_buckets).toEqual(expected.call_buckets)
        expect(body.usage_buckets).toEqual(expected.usage_buckets)
      }
    }
  } finally {
    await store.close()
  }
}
