import { describe, expect, it } from 'vitest'
import { resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import type { StatsGroupField } from '../../../src/schemas/stats/stats-groups.ts'
import type { GroupsQuery, GroupsResult } from '../../../src/store/api/stats/stats.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import type { ClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import {
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  SUM_COLUMNS,
  startOf,
  type TestCall,
  usageOf,
} from '../../stats/support/segment-calls.ts'
import { readCaller } from '../../support/read-caller.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openBothWays } from './open-both-ways.ts'

const FIELDS: readonly StatsGroupField[] = ['op_name', 'model', 'provider']
const COLUMNS = {
  callColumns: SUM_COLUMNS.callColumns.filter(({ of }) => typeof of === 'string'),
  usageColumns: SUM_COLUMNS.usageColumns,
}

function callOf(id: string, hour: number, fields: Partial<TestCall> = {}): TestCall {
  return {
    id,
    startedUs: BASE_US + hour * HOUR_US + Number(id.replace(/\D/g, '')) * 1000,
    latencyUs: 7000 + hour * 1000,
    op: 'op',
    user: 'u',
    run: null,
    isRoot: true,
    isError: false,
    usage: [],
    ...fields,
  }
}

const by = (provider: string | null, ...usage: Parameters<typeof usageOf>) => ({
  ...usageOf(...usage),
  provider,
})

/** Calls of several models, providers and ops: ended, failed and running ones. */
const CALLS: readonly TestCall[] = [
  callOf('c1', 0, { usage: [by('x', 'm', 10, 1), by('x', 'n', 20, 2)] }),
  callOf('c2', 0, { usage: [by('x', 'm', 30, 3), by(null, 'o', 40, 4)], isError: true }),
  callOf('c3', 0, { op: 'other', latencyUs: 0 }),
  callOf('c4', 1, { op: 'other', usage: [by('y', 'm', 50, 5)], latencyUs: 1000 }),
  callOf('c5', 1, { latencyUs: null }),
  callOf('c6', 2, { op: 'op:v2', usage: [by(null, 'm', 60, 6), by('z', 'm2', 1, 1)] }),
]

const partsOf = (call: TestCall) => ({
  start: startOf(call),
  end: call.latencyUs === null ? null : endOf(call),
})

async function openBoth() {
  const opened = await openBothWays()
  const { stores, ofRows } = opened

  async function readFrom(
    { stats, prices }: Stores,
    field: StatsGroupField,
    fields: Partial<GroupsQuery>,
  ): Promise<GroupsResult> {
    const query: GroupsQuery = {
      project_id: PROJECT,
      filter: {},
      startUs: BASE_US - 30 * HOUR_US,
      endUs: BASE_US + 3 * HOUR_US,
      prices: await prices.listPrices(PROJECT),
      counting: 'own',
      ...COLUMNS,
      groupBy: {
        field,
        sort_by: { field: 'group', direction: 'asc' },
        limit: 100,
        times: field === 'op_name',
      },
      ...fields,
    }
    return stats.group(query, readCaller())
  }

  const readBuilt = (field: StatsGroupField, fields: Partial<GroupsQuery> = {}) =>
    readFrom(stores, field, fields)

  /** Expects the same of built hours and of rows. */
  async function readSame(field: StatsGroupField, fields: Partial<GroupsQuery> = {}) {
    const built = await readBuilt(field, fields)
    const prices = stores.prices
    expect(built).toEqual(await readFrom({ ...ofRows, prices }, field, fields))
    return built
  }

  return { ...opened, readBuilt, readSame }
}

/** Stores a call in the second hour of which statistics hear nothing, which shows whether rows are read. */
function addUnrecorded(db: ClickHouse): Promise<void> {
  return db.command(`
INSERT INTO calls (project_id, started_at_us, id, has_start, has_end, op_name, latency_ms, \`usage.model\`, \`usage.input_tokens\`)
VALUES ('${PROJECT}', ${BASE_US + HOUR_US}, 'unrecorded', 1, 1, 'op', 3, ['m'], [50])`)
}

function countsOf({ groups }: GroupsResult): Record<string, number> {
  return Object.fromEntries(groups.map(({ group, count }) => [`${group}`, count]))
}

const WAYS: readonly Partial<GroupsQuery>[] = [
  {},
  { filter: { op_names: ['op', 'op:*'] }, counting: 'reported' },
  { startUs: BASE_US + 1500, endUs: BASE_US + 2 * HOUR_US + 1, usageColumns: [] },
]
const LONG = 240_000

describe.skipIf(!hasClickHouse)('groups of built hours in ClickHouse', () => {
  it('are read in place of the rows, by op, model and provider, with and without a filter by op', {
    timeout: LONG,
  }, async () => {
    const { db, stores, readBuilt, readSame } = await openBoth()
    await stores.calls.writeParts(CALLS.map(partsOf))
    await stores.hours.buildAll()
    const asked = FIELDS.flatMap((field) => WAYS.map((way) => [field, way] as const))
    const before: GroupsResult[] = []
    for (const [field, way] of asked) before.push(await readSame(field, way))
    expect(before.filter((_, at) => at % WAYS.length === 0).map(countsOf)).toEqual([
      { op: 3, 'op:v2': 1, other: 2 },
      { m: 4, m2: 1, n: 1, o: 1, null: 2 },
      { x: 2, y: 1, z: 1, null: 4 },
    ])
    await addUnrecorded(db)
    for (const [at, [field, way]] of asked.entries()) {
      expect(await readBuilt(field, way)).toEqual(before[at])
    }
  })

  it('by op count calls from built hours also where requests have several calls, which decide only usage', {
    timeout: LONG,
  }, async () => {
    const { db, stores, readBuilt } = await openBoth()
    await stores.calls.writeParts(CALLS.map(partsOf))
    await stores.hours.buildAll()
    await db.insert('call_doubles', [{ project_id: PROJECT, request: 'r', id: 'c4' }], 'doubles')
    await addUnrecorded(db)
    expect(countsOf(await readBuilt('op_name', { usageColumns: [] }))).toMatchObject({ op: 3 })
    expect(countsOf(await readBuilt('op_name'))).toMatchObject({ op: 4 })
  })

  it('equal the rows after late ends, children that report late, deletions and expiry', {
    timeout: LONG,
  }, async () => {
    const { stores, readBuilt, readSame } = await openBoth()
    const count = async () => countsOf(await readBuilt('model'))
    const root = callOf('c1', 0, { usage: [{ ...by('x', 'm', 100, 5), requests: 5 }] })
    const [below, late] = [
      callOf('c2', 1, { isRoot: false, parentId: 'c1', usage: [by('x', 'm', 60, 1)] }),
      callOf('c3', 2, { isRoot: false, parentId: 'c1', usage: [by('x', 'm', 40, 4)] }),
    ]
    await stores.calls.writeParts([partsOf(root), { start: startOf(below), end: null }])
    await stores.hours.buildAll()
    expect(await count()).toEqual({ m: 1, null: 1 })
    await stores.calls.writeParts([{ start: null, end: endOf(below) }])
    expect(await count()).toEqual({ m: 2 })
    await stores.hours.buildAll()
    await stores.calls.writeParts([partsOf(late)])
    // Nothing remains for the root itself.
    expect(await count()).toEqual({ m: 2, null: 1 })
    await stores.hours.buildAll()
    expect(countsOf(await readSame('model'))).toEqual({ m: 2, null: 1 })
    await stores.calls.deleteCalls({ project_id: PROJECT, ids: ['c3'], deleted_at_us: 1 })
    expect(await count()).toEqual({ m: 2 })
    await stores.hours.buildAll()
    const expiry = { project_id: PROJECT, before_us: BASE_US + HOUR_US, ends_before_us: 0 }
    await stores.removal.expireCalls(expiry, new AbortController().signal)
    for (const field of FIELDS) await readSame(field)
    expect(await count()).toEqual({ m: 1 })
  })

  it('cost what the rows cost where prices change within the window and have tiers', {
    timeout: LONG,
  }, async () => {
    const { stores, readSame } = await openBoth()
    const tiered = (id: string, hour: number, tokens: number) =>
      callOf(id, hour, { usage: [by('x', 'gemini-2.5-pro', tokens, 9)] })
    const long = [tiered('c7', 0, 300_000), tiered('c8', 1, 1000), tiered('c9', 2, 299_000)]
    await stores.calls.writeParts([...CALLS, ...long].map(partsOf))
    await stores.hours.buildAll()
    const priceFrom = (us: number, cost: number) =>
      resolvePrice(
        'm',
        { prompt_token_cost: cost, completion_token_cost: 2 * cost },
        { project_id: PROJECT, id: `p${us}`, svc_user_id: 'u', created_at_us: BASE_US + us },
      )
    const prices = [priceFrom(-HOUR_US, 0.01), priceFrom(HOUR_US + 4500, 0.03)]
    await stores.prices.createPrices(prices)
    await readSame('op_name')
    await readSame('model', { startUs: BASE_US + 1500, endUs: BASE_US + 2 * HOUR_US + 7000 })
  })

  it('count once what two processes have stored of one call, before a merge makes that one', {
    timeout: LONG,
  }, async () => {
    const { db, stores, readSame } = await openBoth()
    await db.command('SYSTEM STOP MERGES calls')
    await stores.calls.writeParts(CALLS.map(partsOf))
    await db.command(`INSERT INTO calls SELECT * FROM calls WHERE project_id = '${PROJECT}'`)
    await stores.hours.buildAll()
    await db.command('SYSTEM START MERGES calls')
    await db.command('OPTIMIZE TABLE calls FINAL')
    for (const field of FIELDS) await readSame(field)
  })
})
