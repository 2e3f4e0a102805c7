import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PriceTable, UnitPrices } from '../../src/domain/prices/price-table.ts'
import { createPriceTable } from '../../src/domain/prices/price-table.ts'
import {
  layerPrices,
  type ProjectPrice,
  resolvePrice,
} from '../../src/domain/prices/project-prices.ts'
import { renderTimestamp } from '../../src/schemas/timestamp.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const DAY_US = 86_400e6
const BASE_US = Date.UTC(2026, 0, 1) * 1000

function priceOf(day: number, id: number): ProjectPrice {
  const cost = {
    prompt_token_cost: id,
    completion_token_cost: 0,
    effective_date: renderTimestamp(BASE_US + day * DAY_US),
  }
  const defaults = { project_id: 'a/b', id: `p${id}`, svc_user_id: 'u', created_at_us: id }
  return resolvePrice('m', cost, defaults)
}

/** A default price since a day; before it it is a guess, as in the package's table. */
function defaultsSince(day: number | null): PriceTable {
  const free = { base: 0, tiers: [] }
  const prices: UnitPrices = {
    provider_id: 'default table',
    effective_date: day === null ? null : renderTimestamp(BASE_US + day * DAY_US).slice(0, 10),
    input: free,
    output: free,
    cacheRead: free,
    cacheCreation: free,
  }
  return { find: () => prices, steadyUntilUs: () => Number.POSITIVE_INFINITY }
}

describe('layerPrices', () => {
  it('prefers prices already in force, then those of the project, then the newest', () => {
    const days = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 5 })
    const since = fc.option(fc.integer({ min: 0, max: 6 }))
    const at = fc.integer({ min: 0, max: 6 })
    fc.assert(
      fc.property(days, since, at, (starts, defaultSince, startedDay) => {
        const own = starts.map((day, index) => priceOf(day, index + 1))
        const found = layerPrices(own, defaultsSince(defaultSince)).find(
          'm',
          null,
          BASE_US + startedDay * DAY_US,
        )
        const candidates = [
          ...own.map((price, index) => ({
            day: starts[index] as number,
            order: index,
            isOwn: true,
            holds: (starts[index] as number) <= startedDay,
            at: renderTimestamp(price.effective_at_us),
          })),
          {
            day: defaultSince ?? 0,
            order: 0,
            isOwn: false,
            holds: defaultSince === null || defaultSince <= startedDay,
            at: defaultSince === null ? null : 'default',
          },
        ]
        const [best] = candidates.sort(
          (a, b) =>
            Number(b.holds) - Number(a.holds) ||
            Number(b.isOwn) - Number(a.isOwn) ||
            b.day - a.day ||
            b.order - a.order,
        )
        expect(found?.origin?.pricing_level).toBe(best?.isOwn ? 'project' : undefined)
        if (best?.isOwn) {
          expect(found?.effective_date).toBe(best.at)
          expect(found?.input.base).toBe(
            (best.order + 1) * 1e15 > 2 ** 53
              ? BigInt(best.order + 1) * 10n ** 15n
              : (best.order + 1) * 1e15,
          )
        }
      }),
    )
  })

  it('asks the defaults for a model without prices of its own', () => {
    const defaults = createPriceTable()
    const table = layerPrices([], defaults)
    expect(table.find('gpt-4o', null, BASE_US)).toBe(defaults.find('gpt-4o', null, BASE_US))
    expect(table.find('no-such-model', null, BASE_US)).toBeNull()
  })
})

describe('POST /calls/stats with prices of the project', () => {
  const call = fc.record({
    day: fc.integer({ min: 0, max: 6 }),
    input: fc.integer({ min: 0, max: 1000 }),
    output: fc.integer({ min: 0, max: 1000 }),
  })
  const dated = fc.record({
    day: fc.integer({ min: 0, max: 6 }),
    prompt: fc.integer({ min: 0, max: 1000 }),
    completion: fc.integer({ min: 0, max: 1000 }),
  })

  it('equals the naive sum over the calls, each at the price of its start', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    let run = 0
    const property = fc.asyncProperty(
      fc.array(call, { maxLength: 8 }),
      fc.array(dated, { maxLength: 4 }),
      async (calls, prices) => {
        run += 1
        const project_id = `acme/run-${run}`
        for (const { day, prompt, completion } of prices) {
          await app.post('/cost/create', {
            project_id,
            costs: {
              m: {
                prompt_token_cost: prompt / 1e9,
                completion_token_cost: completion / 1e9,
                effective_date: renderTimestamp(BASE_US + day * DAY_US),
              },
            },
          })
        }
        await Promise.all(
          calls.map(async ({ day, input, output }, index) => {
            const started_at = renderTimestamp(BASE_US + day * DAY_US)
            const id = `c${index}`
            const start = { project_id, id, op_name: 'o', started_at, attributes: {}, inputs: {} }
            await app.post('/call/start', { start })
            const usage = { m: { input_tokens: input, output_tokens: output } }
            const end = { project_id, id, ended_at: started_at, summary: { usage } }
            await app.post('/call/end', { end })
          }),
        )
        const { body } = await app.post('/calls/stats', {
          project_id,
          start: renderTimestamp(BASE_US),
          end: renderTimestamp(BASE_US + 7 * DAY_US),
          granularity: 86_400,
          usage_metrics: [{ metric: 'total_cost' }],
        })
        const found = body.usage_buckets
          .filter(({ count }: { count: number }) => count > 0)
          .map(({ sum_total_cost }: { sum_total_cost: number | null }) => sum_total_cost)
        const days = [...new Set(calls.map(({ day }) => day))].sort((a, b) => a - b)
        const expected = days.map((day) => {
          const holding = prices.filter((price) => price.day <= day)
          const usable = holding.length > 0 ? holding : prices
          // Of equal days the last that was stored.
          const price = usable.reduce<(typeof prices)[number] | undefined>(
            (best, next) => (best && best.day > next.day ? best : next),
            undefined,
          )
          if (!price) return null
          const nanos = calls
            .filter((one) => one.day === day)
            .reduce(
              (sum, { input, output }) => sum + input * price.prompt + output * price.completion,
              0,
            )
          return nanos / 1e9
        })
        expect(found).toEqual(expected)
      },
    )
    await fc.assert(property, { numRuns: 20 })
  })
})
