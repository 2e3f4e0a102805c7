import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ProjectPrice, resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import type { StatsQuery } from '../../../src/store/api/stats/stats.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/open.ts'
import {
  ALL_COLUMNS,
  askBothWays,
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  SUM_COLUMNS,
  startOf,
  type TestCall,
  usageOf,
} from '../support/segment-calls.ts'

const MINUTE_US = 60_000_000

/** How a call comes to the store. */
const MANNERS = ['at once', 'start, then end', 'end, then start', 'runs', 'deleted'] as const

const usage = fc
  .uniqueArray(fc.constantFrom('gpt-4o', 'gemini-2.5-pro', 'deepseek-chat', 'nobody-knows'), {
    maxLength: 3,
  })
  .chain((models) =>
    fc.tuple(
      ...models.map((model) =>
        fc
          // Gemini costs more above 200,000 tokens.
          .tuple(fc.oneof(fc.nat(9), fc.nat(999), fc.nat(400_000)), fc.nat(999), fc.nat(99))
          .map(([input, output, cached]) => usageOf(model, input, output, cached)),
      ),
    ),
  )

const call = fc.record({
  startedUs: fc
    .tuple(fc.integer({ min: -2, max: 3 }), fc.integer({ min: 0, max: HOUR_US - 1 }))
    .map(([hour, offset]) => BASE_US + hour * HOUR_US + offset),
  latencyUs: fc.oneof(fc.integer({ min: -1000, max: 5000 }), fc.nat(90_000_000)),
  op: fc.constantFrom('a', 'b', 'b:1', 'b:2'),
  user: fc.constantFrom('u1', 'u2'),
  run: fc.constantFrom('r1', 'r2', null),
  endUser: fc.constantFrom('e1', 'e2', null),
  isRoot: fc.boolean(),
  /** Which call of its round, or of one after it, is its parent, where there are so many. */
  parent: fc.nat(3),
  parentRounds: fc.nat(2),
  isError: fc.boolean(),
  usage,
  manner: fc.constantFrom(...MANNERS),
})

const question = fc.record({
  startUs: fc.oneof(
    fc.constant(BASE_US - 2 * HOUR_US),
    fc.integer({ min: -150, max: 60 }).map((minutes) => BASE_US + minutes * MINUTE_US + 7),
  ),
  lengthUs: fc.oneof(
    fc.constantFrom(HOUR_US / 12, HOUR_US / 4, HOUR_US, 3 * HOUR_US, 24 * HOUR_US),
    fc.integer({ min: 1, max: 200 }).map((minutes) => minutes * MINUTE_US + 13),
  ),
  offsetUs: fc.constantFrom(0, HOUR_US / 2, HOUR_US / 4, 11),
  rangeUs: fc.oneof(fc.constant(6 * HOUR_US), fc.integer({ min: 1, max: 6 * HOUR_US })),
  filter: fc.record(
    {
      op_names: fc.constantFrom<string[]>(['a'], ['b:*'], ['b', 'b:1'], []),
      svc_user_ids: fc.constantFrom<string[]>(['u1'], ['u2', 'u3']),
      svc_run_ids: fc.constantFrom<string[]>(['r1'], ['r9']),
      end_user_ids: fc.constantFrom<string[]>(['e1'], ['e2', 'e3']),
      trace_roots_only: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  columns: fc.constantFrom(ALL_COLUMNS, SUM_COLUMNS),
  counting: fc.constantFrom('own' as const, 'own' as const, 'reported' as const),
})

function toQuery({
  startUs,
  lengthUs,
  offsetUs,
  rangeUs,
  filter,
  columns,
  counting,
}: typeof question extends fc.Arbitrary<infer T> ? T : never): StatsQuery {
  const endUs = startUs + rangeUs
  const firstUs = Math.floor((startUs - offsetUs) / lengthUs) * lengthUs + offsetUs
  const starts: number[] = []
  for (let us = firstUs; us < endUs; us += lengthUs) starts.push(us)
  const times = { startUs, endUs, startsUs: Float64Array.from(starts) }
  return { project_id: PROJECT, filter, ...times, ...columns, counting, prices: [], valuesMax: 1e6 }
}

type Drawn = typeof call extends fc.Arbitrary<infer T> ? T : never

async function write(store: SqliteStore, drawn: Drawn, round: number, id: string): Promise<void> {
  const parentId = `c${round + drawn.parentRounds}-${drawn.parent}`
  const written: TestCall = { ...drawn, id, parentId }
  const [start, end] = [startOf(written), endOf(written)]
  const { calls } = store
  if (drawn.manner === 'at once') await calls.writeParts([{ start, end }])
  else if (drawn.manner === 'end, then start') {
    await calls.endCall(end)
    await calls.startCall(start)
  } else {
    await calls.startCall(start)
    if (drawn.manner !== 'runs') await calls.endCall(end)
  }
  if (drawn.manner !== 'deleted') return
  await calls.deleteCalls({ project_id: PROJECT, ids: [id], deleted_at_us: 1 })
}

function priceOf(id: string, llm_id: string, minute: number, cost: number): ProjectPrice {
  const created_at_us = BASE_US + minute * MINUTE_US
  const defaults = { project_id: PROJECT, id, svc_user_id: 'u' }
  const costs = { prompt_token_cost: cost, completion_token_cost: 2 * cost }
  return resolvePrice(llm_id, costs, { ...defaults, created_at_us })
}

describe('segments of hours', () => {
  it('segments match the rows to the last digit while calls start, end, find parents, change price and are deleted', async () => {
    const batch = fc.array(call, { minLength: 1, maxLength: 20 })
    const property = fc.asyncProperty(
      fc.tuple(batch, batch, batch),
      fc.array(question, { minLength: 2, maxLength: 4 }),
      fc.array(fc.integer({ min: -90, max: 90 }), { maxLength: 2 }),
      fc.record({
        segmentRowsMax: fc.constantFrom(1, 2, 5, 1000),
        builtRounds: fc.shuffledSubarray([0, 1, 2]),
        gone: fc.array(fc.nat(), { maxLength: 4 }),
      }),
      async (batches, questions, priceMinutes, { segmentRowsMax, builtRounds, gone }) => {
        const store = openSqliteStore({
          dataDir: ':memory:',
          ingestQueueMax: 100,
          segmentRowsMax,
        })
        const ids: string[] = []
        const running: TestCall[] = []
        const compare = async () => {
          for (const asked of questions) {
            const { found, fromRows } = await askBothWays(store, toQuery(asked), ids)
            expect(found).toEqual(fromRows)
          }
        }
        for (const [round, drawn] of batches.entries()) {
          for (const [index, one] of drawn.entries()) {
            const id = `c${round}-${index}`
            ids.push(id)
            await write(store, one, round, id)
            if (one.manner === 'runs') running.push({ ...one, id })
          }
          // Hours are built, then changed, read twice while they change, and built further.
          if (builtRounds.includes(round)) await store.segments.buildAll()
          await compare()
          // Ends of calls whose starts may stand in a piece.
          for (const late of running.splice(0, 2)) await store.calls.endCall(endOf(late))
          await compare()
          // Calls that may stand in a piece or have come since, and with them what their parents used.
          const doomed = gone.slice(round).map((place) => ids[place % ids.length] as string)
          await store.calls.deleteCalls({ project_id: PROJECT, ids: doomed, deleted_at_us: 1 })
          await compare()
        }
        for (const [index, minute] of priceMinutes.entries()) {
          await store.prices.createPrices([priceOf(`p${index}`, 'gpt-4o', minute, 0.00123)])
        }
        await store.segments.buildAll()
        await compare()
        await store.close()
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })

  it('statistics of hours too large for segments are read from the rows', async () => {
    const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100 })
    onTestFinished(() => store.close())
    const large: TestCall = {
      id: 'large',
      startedUs: BASE_US,
      latencyUs: 2 ** 52,
      op: 'a',
      user: 'u',
      run: null,
      isRoot: true,
      isError: false,
      usage: [usageOf('gpt-4o', 2 ** 53 - 1, 2 ** 40)],
    }
    const times = { startUs: BASE_US, endUs: BASE_US + HOUR_US, startsUs: Float64Array.of(BASE_US) }
    const query = {
      project_id: PROJECT,
      filter: {},
      ...times,
      ...ALL_COLUMNS,
      prices: [],
      counting: 'own' as const,
      valuesMax: 1e6,
    }
    await store.calls.writeParts([{ start: startOf(large), end: endOf(large) }])
    for (let look = 0; look < 2; look++) {
      const { found, fromRows } = await askBothWays(store, query, ['large'])
      expect(found).toEqual(fromRows)
      expect(found.usage[0]?.table.values[0]?.[0]).toBe(2 ** 53 - 1)
      expect(await store.segments.buildAll()).toBe(1 - look)
    }
  })
})
