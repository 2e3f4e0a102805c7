import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AS_REPORTED, type Pricing } from '../../src/domain/prices/cost.ts'
import type { UnitPrices } from '../../src/domain/prices/price-table.ts'
import { toColumns } from '../../src/domain/stats/metric-names.ts'
import type { ModelUsage } from '../../src/domain/usage/usage.ts'
import { COUNTERS, USAGE_NUMBERS } from '../../src/store/base/stats/sums.ts'
import { createModelTable } from '../../src/store/base/stats/usage-sums.ts'

const BUCKETS = 4

/** Without tiers, as sums need them. */
function pricesOf(atoms: number): UnitPrices {
  const price = (times: number) => ({ base: atoms * times, tiers: [] })
  return {
    provider_id: 'p',
    effective_date: null,
    input: price(3),
    output: price(5),
    cacheRead: price(1),
    cacheCreation: price(4),
    cacheCreation1h: price(8),
    inputAudio: price(13),
    outputAudio: price(2),
    reasoning: price(6),
  }
}

/** The sum of all rows stays below 2 ** 53, beyond which a sum depends on the order; that of their costs does not. */
const tokens = fc.oneof(fc.nat(9), fc.constantFrom(0, 2 ** 31, 2 ** 47 + 1))
const usage: fc.Arbitrary<ModelUsage> = fc.record({
  model: fc.constant('m'),
  provider: fc.constant(null),
  upstream_model: fc.constant(null),
  service_tier: fc.constant(null),
  reports_cost: fc.constant(true),
  input_tokens: tokens,
  output_tokens: tokens,
  total_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  uncached_input_tokens: tokens,
  input_audio_tokens: tokens,
  input_image_tokens: tokens,
  cache_read_audio_tokens: tokens,
  cache_creation_1h_input_tokens: tokens,
  reasoning_tokens: tokens,
  output_audio_tokens: tokens,
  output_image_tokens: tokens,
  reported_cost_microcents: tokens,
})
const step = fc.record({
  bucket: fc.nat(BUCKETS - 1),
  rows: fc.array(usage, { minLength: 1, maxLength: 3 }),
  asSums: fc.boolean(),
  prices: fc.constantFrom<Pricing | null>(null, AS_REPORTED, pricesOf(1), pricesOf(1_000_003)),
})
const aggregations = ['sum', 'avg', 'count'] as const
const metrics = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
] as const
const costs = ['input_cost', 'output_cost', 'total_cost'] as const
const wanted = fc.subarray([...metrics, ...costs], { minLength: 1 })

/** USAGE_NUMBERS behind one number that is none of them. */
function toNumbers(rows: readonly ModelUsage[]): Float64Array {
  const numbers = new Float64Array(1 + USAGE_NUMBERS)
  numbers[1] = rows.length
  COUNTERS.forEach((counter, at) => {
    numbers[2 + at] = rows.reduce((sum, row) => sum + row[counter], 0)
  })
  const paid = rows.map(
    (row) =>
      row.uncached_input_tokens + row.cache_read_input_tokens + row.cache_creation_input_tokens,
  )
  numbers[USAGE_NUMBERS] = Math.max(...paid)
  return numbers
}

it('a usage table is the same from rows, from sums, and from a mix of both', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), wanted, (steps, names) => {
      const columns = toColumns(
        names.map((metric) => ({ metric, aggregations, percentiles: [] as number[] })),
      )
      const needsCost = names.some((name) => (costs as readonly string[]).includes(name))
      const [mixed, plain] = [
        createModelTable(columns, BUCKETS),
        createModelTable(columns, BUCKETS),
      ]
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        for (const { rows, asSums, ...of } of steps.filter((one) => one.bucket === bucket)) {
          const prices = needsCost ? of.prices : null
          for (const row of rows) plain.addRow(row, prices)
          if (asSums) mixed.addSums(toNumbers(rows), 1, prices)
          else for (const row of rows) mixed.addRow(row, prices)
        }
        for (const table of [mixed, plain]) table.flush(bucket)
      }
      expect(mixed.table).toEqual(plain.table)
    }),
  )
})
