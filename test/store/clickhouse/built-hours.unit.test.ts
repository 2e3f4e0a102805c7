import { expect, it } from 'vitest'
import type { Reads } from '../../../src/store/clickhouse/db/reads.ts'
import { findBuilt } from '../../../src/store/clickhouse/stats/built-hours.ts'
import { readCaller } from '../../support/read-caller.ts'

const HOUR_US = 3_600_000_000

async function countStatements(endUs: number, startsUs: number[]) {
  let statements = 0
  const reads = { read: async () => [{}].slice(++statements) } as unknown as Reads
  const query = {
    project_id: 'acme/demo',
    filter: {},
    startUs: 0,
    endUs,
    startsUs: Float64Array.from(startsUs),
    prices: [],
    counting: 'own' as const,
    valuesMax: 1000,
    usageColumns: [],
    callColumns: [],
  }
  await findBuilt(reads, query, { conditions: [], parameters: {} }, readCaller())
  return statements
}

it('built hours are looked up only for buckets that can hold an hour', async () => {
  expect(await countStatements(HOUR_US, [0])).toBe(1)
  expect(await countStatements(HOUR_US, [-HOUR_US / 2, HOUR_US / 2])).toBe(1)
  expect(await countStatements(HOUR_US, [0, HOUR_US / 2])).toBe(0)
  expect(await countStatements(HOUR_US / 2, [0])).toBe(0)
})
