import { describe, expect, it } from 'vitest'
import type { CallUsage } from '../../../src/domain/usage/usage.ts'
import type { UsageCounting } from '../../../src/schemas/usage/usage-counting.ts'
import {
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
  type TestCall,
  usageOf,
} from '../../stats/support/segment-calls.ts'
import { readCaller } from '../../support/read-caller.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

/** More than the bloom filter of `parent_id` is asked for. */
const PARENTS = 600

/** A call and one below it, with what they report of a model. */
function treeOf(at: number, reported: number, nested: number) {
  const call = (id: string, isRoot: boolean, usage: CallUsage) => {
    const fields = { op: 'o', user: 'u', run: null, isError: false, latencyUs: 1000 }
    const parentId = isRoot ? 'none' : `parent-${at}`
    const startedUs = BASE_US + at
    const test: TestCall = { id, startedUs, isRoot, parentId, usage: [usage], ...fields }
    return { start: startOf(test), end: endOf(test) }
  }
  return [
    call(`parent-${at}`, true, usageOf('m', reported, 0)),
    call(`child-${at}`, false, usageOf('m', nested, 0)),
  ]
}

describe.skipIf(!hasClickHouse)('usage that counts once, in ClickHouse', () => {
  it.each([10, PARENTS])('leaves out what the children of %d calls report', async (parents) => {
    const stores = await openTestStores()
    const trees = Array.from({ length: parents }, (_, at) => treeOf(at, 100 + at, 60))
    await stores.calls.writeParts(trees.flat())
    const sumOf = async (counting: UsageCounting) => {
      const query = {
        ...{ project_id: PROJECT, filter: {}, startUs: BASE_US, endUs: BASE_US + HOUR_US },
        ...{ startsUs: Float64Array.of(BASE_US), prices: [], valuesMax: 1000, callColumns: [] },
        usageColumns: [{ key: 'sum', metric: 'total_tokens' as const, of: 'sum' as const }],
      }
      const { usage } = await stores.stats.aggregate({ ...query, counting }, readCaller())
      return usage[0]?.table.values[0]?.[0]
    }
    const reported = (parents * (parents - 1)) / 2 + 100 * parents
    await expect(sumOf('own')).resolves.toBe(reported)
    await expect(sumOf('reported')).resolves.toBe(reported + 60 * parents)
  })
})
