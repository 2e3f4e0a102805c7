import { describe, expect, it } from 'vitest'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import { resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import type { StatsQuery } from '../../../src/store/api/stats/stats.ts'
import {
  BASE_US,
  callInTurn,
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
import { openTestStores } from './open-clickhouse.ts'

const HOURS = 3
const FIELDS = { latencyUs: 7000, op: 'op', user: 'u', run: null, isError: false }

/** A call of an hour: below another, or one that also reports what is below it. */
function callOf(id: string, hour: number, parentId: string | null, tokens: number): CallParts {
  const isRoot = parentId === null
  const usage = isRoot ? { ...usageOf('m', tokens, 5, 9), requests: 5 } : usageOf('m', tokens, 1, 3)
  const startedUs = BASE_US + hour * HOUR_US + tokens
  const given = parentId === null ? {} : { parentId }
  const call: TestCall = { ...FIELDS, id, startedUs, isRoot, ...given, usage: [usage] }
  return { start: startOf(call), end: endOf(call) }
}

async function openBoth() {
  const opened = await openBothWays()
  const { stores, ofRows } = opened

  async function readBoth(fields: Partial<StatsQuery> = {}) {
    const starts = Array.from({ length: HOURS }, (_, hour) => BASE_US + hour * HOUR_US)
    const prices = await stores.prices.listPrices(PROJECT)
    const query: StatsQuery = {
      project_id: PROJECT,
      filter: {},
      startUs: BASE_US,
      endUs: BASE_US + HOURS * HOUR_US,
      startsUs: Float64Array.from(starts),
      prices,
      counting: 'own',
      valuesMax: 1e6,
      ...SUM_COLUMNS,
      ...fields,
    }
    const caller = readCaller()
    const [built, rows] = [
      await stores.stats.aggregate(query, caller),
      await ofRows.stats.aggregate(query, caller),
    ]
    return { built, rows }
  }

  /** Expects the same of both. @returns the input tokens by bucket, of all models */
  async function readSame(fields: Partial<StatsQuery> = {}): Promise<number[]> {
    const { built, rows } = await readBoth(fields)
    expect(built).toEqual(rows)
    const column = SUM_COLUMNS.usageColumns.findIndex(({ key }) => key === 'sum_input_tokens')
    const sums = new Array<number>(fields.startsUs?.length ?? HOURS).fill(0)
    for (const { table } of built.usage) {
      for (const bucket of sums.keys()) {
        sums[bucket] = (sums[bucket] ?? 0) + (table.values[column]?.[bucket] || 0)
      }
    }
    return sums
  }

  return { ...opened, readBoth, readSame }
}

describe.skipIf(!hasClickHouse)('usage of built hours in ClickHouse', { timeout: 240_000 }, () => {
  it('is read in place of the rows, each token once and as reported, of all ops and of some', async () => {
    const { db, stores, readBoth, readSame } = await openBoth()
    const calls = Array.from({ length: 9 }, (_, at) => callInTurn(at, HOURS))
    await stores.calls.writeParts(calls.map((call) => ({ start: startOf(call), end: endOf(call) })))
    await stores.calls.writeParts([callOf('below', 0, 'c0', 4)])
    await stores.hours.buildAll()
    const ways: Partial<StatsQuery>[] = [
      {},
      { counting: 'reported' },
      { counting: 'reported', filter: { op_names: ['op', 'o*'] } },
      { startUs: BASE_US + 1, startsUs: Float64Array.of(BASE_US) },
    ]
    for (const way of ways) await readSame(way)
    // A report of which statistics hear nothing shows whether rows are read.
    await db.command(`
INSERT INTO calls (project_id, started_at_us, id, has_start, has_end, op_name, \`usage.model\`, \`usage.input_tokens\`)
VALUES ('${PROJECT}', ${BASE_US + HOUR_US}, 'unrecorded', 1, 1, 'op', ['m'], [50])`)
    for (const way of ways) {
      const { built, rows } = await readBoth(way)
      expect(built.usage).not.toEqual(rows.usage)
    }
  })

  it('is read from the rows where a report below a call of the hour arrives late or is removed', async () => {
    const { url, stores, readSame } = await openBoth()
    const other = await openTestStores({ url })
    await stores.calls.writeParts([callOf('top', 0, null, 100), callOf('early', 1, 'top', 10)])
    await stores.hours.buildAll()
    await expect(readSame()).resolves.toEqual([90, 10, 0])
    const late = callOf('late', 2, 'top', 20)
    await other.calls.writeParts([{ start: late.start, end: null }])
    await stores.hours.buildAll()
    await other.calls.writeParts([{ start: null, end: late.end }])
    await expect(readSame()).resolves.toEqual([70, 10, 20])
    await stores.hours.buildAll()
    await expect(readSame()).resolves.toEqual([70, 10, 20])
    await stores.calls.deleteCalls({ project_id: PROJECT, ids: ['late'], deleted_at_us: 1 })
    await expect(readSame()).resolves.toEqual([90, 10, 0])
  })

  it('is read from the rows where a report of an expired call was below a call of the hour', async () => {
    const { stores, readSame } = await openBoth()
    await stores.calls.writeParts([callOf('first', 0, 'top', 10), callOf('top', 2, null, 100)])
    await stores.hours.buildAll()
    await expect(readSame()).resolves.toEqual([10, 0, 90])
    const expiry = { project_id: PROJECT, before_us: BASE_US + HOUR_US, ends_before_us: 0 }
    await stores.removal.expireCalls(expiry, new AbortController().signal)
    await expect(readSame()).resolves.toEqual([0, 0, 100])
  })

  it('counts once what two processes have stored of one call, before a merge makes that one', async () => {
    const { db, stores, readSame } = await openBoth()
    await db.command('SYSTEM STOP MERGES calls')
    await stores.calls.writeParts([callOf('below', 0, 'top', 10), callOf('top', 0, null, 100)])
    await db.command(`INSERT INTO calls SELECT * FROM calls WHERE project_id = '${PROJECT}'`)
    await stores.hours.buildAll()
    await db.command('SYSTEM START MERGES calls')
    await db.command('OPTIMIZE TABLE calls FINAL')
    await expect(readSame()).resolves.toEqual([100, 0, 0])
  })

  it('costs what the rows cost where prices change between hours and within one, and have tiers', async () => {
    const { stores, readSame } = await openBoth()
    const ofTiers = (hour: number, tokens: number): CallParts => {
      const { start, end } = callOf(`long-${hour}-${tokens}`, hour, null, tokens)
      return { start, end: end && { ...end, usage: [usageOf('gemini-2.5-pro', tokens, 9)] } }
    }
    const calls = [0, 0, 1, 1, 2, 2].map((hour, at) => callOf(`c${at}`, hour, null, 10 + 10 * at))
    const long = [ofTiers(0, 300_000), ofTiers(0, 1000), ofTiers(2, 299_000)]
    await stores.calls.writeParts([...calls, ...long])
    await stores.hours.buildAll()
    const priceFrom = (us: number, cost: number) =>
      resolvePrice(
        'm',
        { prompt_token_cost: cost, completion_token_cost: 2 * cost },
        { project_id: PROJECT, id: `p${us}`, svc_user_id: 'u', created_at_us: BASE_US + us },
      )
    const oneBucket = { startsUs: Float64Array.of(BASE_US) }
    for (const us of [-HOUR_US, HOUR_US, 2 * HOUR_US + 55]) {
      await stores.prices.createPrices([priceFrom(us, 0.01 + us / HOUR_US / 1000)])
      await expect(readSame(oneBucket)).resolves.toEqual([600_210])
    }
  })
})
