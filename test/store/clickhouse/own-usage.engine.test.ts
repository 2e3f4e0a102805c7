import { describe, expect, it, onTestFinished } from 'vitest'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import type { CallUsage } from '../../../src/domain/usage/usage.ts'
import type { UsageCounting } from '../../../src/schemas/usage/usage-counting.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { UNSETTLED } from '../../../src/store/clickhouse/stats/stats.sql.ts'
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
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

/** More than the bloom filter of `parent_id` is asked for. */
const MANY = 600
const NESTED = 60

function callOf(id: string, at: number, parentId: string | null, tokens: number): CallParts {
  const usage: readonly CallUsage[] = [usageOf('m', tokens, 0)]
  const fields = { op: 'o', user: 'u', run: null, isError: false, latencyUs: 1000 }
  const isRoot = parentId === null
  const startedUs = BASE_US + at
  const call: TestCall = { id, startedUs, isRoot, parentId: parentId ?? 'none', usage, ...fields }
  return { start: startOf(call), end: endOf(call) }
}

/** The same with a cost in dollars. */
function costing({ start, end }: CallParts, usd: number): CallParts {
  const costs = { reports_cost: true, reported_cost_microcents: usd * 1e8 }
  return { start, end: end && { ...end, usage: end.usage.map((one) => ({ ...one, ...costs })) } }
}

function parentsOf(count: number): CallParts[] {
  return Array.from({ length: count }, (_, at) => callOf(`parent-${at}`, at, null, 100 + at))
}

function childrenOf(count: number): CallParts[] {
  return Array.from({ length: count }, (_, at) => callOf(`child-${at}`, at, `parent-${at}`, NESTED))
}

function reportedBy(parents: number): number {
  return (parents * (parents - 1)) / 2 + 100 * parents
}

async function sumOf(
  { stats }: Stores,
  counting: UsageCounting,
  metric: 'total_tokens' | 'total_cost' = 'total_tokens',
) {
  const query = {
    project_id: PROJECT,
    filter: {},
    startUs: BASE_US,
    endUs: BASE_US + HOUR_US,
    startsUs: Float64Array.of(BASE_US),
    prices: [],
    valuesMax: 1000,
    callColumns: [],
    usageColumns: [{ key: 'sum', metric, of: 'sum' as const }],
  }
  const { usage } = await stats.aggregate({ ...query, counting }, readCaller())
  return usage[0]?.table.values[0]?.[0]
}

/** How many slots have calls that are joined with their children. */
async function countUnsettled(url: string): Promise<number | undefined> {
  const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  const sql = `WITH 0 AS is_short SELECT bitmapCardinality((${UNSETTLED})) AS slots`
  return (await db.read<{ slots: number }>(sql, { project_id: PROJECT }))[0]?.slots
}

describe.skipIf(!hasClickHouse)('usage that counts once, in ClickHouse', () => {
  it('own usage is stored with calls whose children arrived before or with them', async () => {
    const url = await makeDatabase()
    const stores = await openTestStores({ url })
    await stores.calls.writeParts([...parentsOf(2), ...childrenOf(2)])
    await stores.calls.writeParts([callOf('child-2', 2, 'parent-2', NESTED)])
    const { start, end } = callOf('parent-2', 2, null, 102)
    await stores.calls.writeParts([{ start, end: null }])
    await stores.calls.writeParts([{ start: null, end }])
    await expect(countUnsettled(url)).resolves.toBe(0)
    await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(3))
    await expect(sumOf(stores, 'reported')).resolves.toBe(reportedBy(3) + NESTED * 3)
  })

  it.each([10, MANY])(
    'own usage leaves out reports of children that arrive after %d calls',
    async (calls) => {
      const url = await makeDatabase()
      const stores = await openTestStores({ url })
      await stores.calls.writeParts(parentsOf(calls))
      await stores.calls.writeParts(childrenOf(calls))
      await expect(countUnsettled(url)).resolves.toBeGreaterThan(0)
      await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(calls))
    },
  )

  it('own usage is computed from the reports of children in a window of few calls', async () => {
    const stores = await openTestStores({ joinedMax: 100 })
    await stores.calls.writeParts([...parentsOf(49), ...childrenOf(49)])
    await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(49))
    await stores.calls.writeParts(parentsOf(51).slice(49))
    await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(51))
  })

  it.each([0, 100])(
    'reported costs count once, and alone where the parent reports no tokens (joined up to %d calls)',
    async (joinedMax) => {
      const stores = await openTestStores({ joinedMax })
      const costOnly = callOf('parent-1', 1, null, 0)
      const [first, second] = childrenOf(2) as [CallParts, CallParts]
      await stores.calls.writeParts([
        costing(callOf('parent-0', 0, null, 100), 0.75),
        costing(first, 0.25),
        costing(costOnly, 0.5),
        costing(second, 0.5),
      ])
      await expect(sumOf(stores, 'own', 'total_cost')).resolves.toBe(1.25)
      await expect(sumOf(stores, 'reported', 'total_cost')).resolves.toBe(2)
      await expect(sumOf(stores, 'own')).resolves.toBe(160)
    },
  )

  it('own usage leaves out reports of children that another process has written', async () => {
    const url = await makeDatabase()
    const [one, other] = [await openTestStores({ url }), await openTestStores({ url })]
    await one.calls.writeParts(childrenOf(3))
    await other.calls.writeParts(parentsOf(3))
    await expect(sumOf(other, 'own')).resolves.toBe(reportedBy(3))
  })

  it('own usage returns to calls whose children are deleted', async () => {
    const stores = await openTestStores()
    await stores.calls.writeParts([...childrenOf(2), ...parentsOf(2)])
    const deletion = { project_id: PROJECT, ids: ['child-0'], deleted_at_us: BASE_US }
    await stores.calls.deleteCalls(deletion)
    await expect(sumOf(stores, 'reported')).resolves.toBe(reportedBy(2) + NESTED)
    await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(2))
  })

  it('own usage is computed from the rows of a version that did not store it', async () => {
    const url = await makeDatabase()
    const stores = await openTestStores({ url })
    await stores.calls.writeParts([...childrenOf(2), ...parentsOf(2)])
    const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
    onTestFinished(() => db.close())
    await db.command(`
INSERT INTO calls (project_id, started_at_us, id, has_start, has_end, parent_id,
  \`usage.model\`, \`usage.tells_requests\`, \`usage.requests\`, \`usage.total_tokens\`)
VALUES
  ('${PROJECT}', ${BASE_US}, 'old', 1, 1, NULL, ['m'], [1], [9], [50]),
  ('${PROJECT}', ${BASE_US}, 'old-child', 1, 1, 'old', ['m'], [1], [1], [20])`)
    await expect(countUnsettled(url)).resolves.toBe(1)
    await expect(sumOf(stores, 'own')).resolves.toBe(reportedBy(2) + 50)
  })
})
