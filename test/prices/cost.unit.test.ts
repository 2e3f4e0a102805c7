import { calcPrice, type ModelPrice } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import {
  costParts,
  inputCost,
  renderCallCosts,
  totalCost,
  toUsd,
} from '../../src/domain/prices/cost.ts'
import {
  createPriceTable,
  type PriceTable,
  type UnitPrice,
  type UnitPrices,
} from '../../src/domain/prices/price-table.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { timestampUs } from '../../src/schemas/timestamp.ts'

const AT = timestampUs('2025-06-15T12:00:00Z')
const prices = createPriceTable()

/** Dollars of input, output and both, for the usage of one model. */
function costOf(model: string, counts: Record<string, unknown>, table: PriceTable = prices) {
  const [usage] = readUsage({ usage: { [model]: counts } })
  const found = table.find(model, null, AT)
  if (!usage || !found) throw new Error(`${model} has no price`)
  const parts = costParts(usage, found)
  return [inputCost(parts), parts.output, totalCost(parts)].map(toUsd)
}

/** A call without attributes that ends with this summary. */
function called(summary: Record<string, unknown>) {
  return { summary, attributes: {}, started_at_us: AT }
}

function flat(usdPerMillion: number): UnitPrice {
  return { base: usdPerMillion * 1e9, tiers: [] }
}

function tableOf(found: Partial<UnitPrices>): PriceTable {
  const unit: UnitPrices = {
    provider_id: 'test',
    effective_date: null,
    input: flat(3),
    output: flat(15),
    cacheRead: flat(0.3),
    cacheCreation: flat(3.75),
    ...found,
  }
  return { find: () => unit, steadyUntilUs: () => Number.POSITIVE_INFINITY }
}

describe('costs by hand', () => {
  it('pays cached tokens of an OpenAI prompt once, at their own price', () => {
    // 800 x 2.50 + 200 x 1.25 in, 100 x 10 out, each per million.
    const cost = costOf('gpt-4o', {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 200 },
    })
    expect(cost).toEqual([0.00225, 0.001, 0.00325])
  })

  it('pays cached tokens beside the input of Anthropic, reads and writes', () => {
    // 100 x 3 + 2000 x 0.30 + 400 x 3.75 in, 50 x 15 out, each per million.
    const cost = costOf('claude-3-5-sonnet-20241022', {
      input_tokens: 100,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 400,
      output_tokens: 50,
    })
    expect(cost).toEqual([0.0024, 0.00075, 0.00315])
  })

  it('prices every token of the call by the tier of all its input tokens', () => {
    const table = tableOf({
      input: { base: 3e9, tiers: [{ above: 200_000, price: 6e9 }] },
      output: { base: 15e9, tiers: [{ above: 200_000, price: 22.5e9 }] },
      cacheRead: { base: 0.3e9, tiers: [{ above: 200_000, price: 0.6e9 }] },
    })
    const counts = { input_tokens: 100_000, cache_read_input_tokens: 100_000, output_tokens: 1000 }
    expect(costOf('m', counts, table)).toEqual([0.33, 0.015, 0.345])
    const longer = { ...counts, cache_read_input_tokens: 100_001 }
    expect(costOf('m', longer, table)).toEqual([0.6600006, 0.0225, 0.6825006])
  })

  it('stays exact where a double would not count', () => {
    const counts = { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1 }
    const [input, output] = costOf('m', counts, tableOf({}))
    expect([input, output]).toEqual([Number((2n ** 53n - 1n) * 3_000_000_000n) / 1e15, 0.000015])
  })
})

describe('createPriceTable', () => {
  it.each(['tiny', '', 'no-such-model', 'toString', '__proto__', 'x/y', '/', 'litellm/'])(
    'has no price for %j',
    (model) => {
      expect(prices.find(model, null, AT)).toBeNull()
    },
  )

  it.each(['gpt-4o', 'GPT-4o', 'gpt-4o-2024-08-06', 'openai/gpt-4o'])('knows %s', (model) => {
    expect(prices.find(model, null, AT)).toMatchObject({
      provider_id: 'openai',
      input: flat(2.5),
      output: flat(10),
    })
  })

  it('changes a price on its first day, UTC', () => {
    const { model, provider } = calcPrice({}, 'o3') ?? {}
    const periods = Array.isArray(model?.prices) ? model.prices : []
    const dated = periods.find(({ constraint }) => constraint?.type === 'start_date')
    if (dated?.constraint?.type !== 'start_date') throw new Error('o3 has no dated price')
    const firstUs = timestampUs(`${dated.constraint.start_date}T00:00:00Z`)
    const usd = (set: ModelPrice | undefined) => (set?.input_mtok as number) * 1e9
    expect(prices.find('o3', null, firstUs)).toMatchObject({
      provider_id: provider?.id,
      effective_date: dated.constraint.start_date,
      input: { base: usd(dated.prices) },
    })
    expect(prices.find('o3', null, firstUs - 1)).toMatchObject({
      effective_date: null,
      input: { base: usd(periods[0]?.prices) },
    })
    expect(usd(dated.prices)).not.toBe(usd(periods[0]?.prices))
  })

  it('agrees with the package at every hour of a day for prices by time of day', () => {
    for (let hour = 0; hour < 24; hour++) {
      for (const minute of ['00', '29', '30']) {
        const text = `2025-06-15T${String(hour).padStart(2, '0')}:${minute}:00Z`
        const expected = calcPrice({}, 'deepseek-chat', { timestamp: new Date(text) })?.model_price
        expect(prices.find('deepseek-chat', null, timestampUs(text))?.input.base).toBe(
          Math.round((expected?.input_mtok as number) * 1e9),
        )
      }
    }
  })

  it('reads the price of a cache from the input where it has none', () => {
    const found = prices.find('gpt-4o', null, AT)
    expect(found?.cacheCreation).toEqual(found?.input)
    expect(found?.cacheRead).toEqual(flat(1.25))
  })
})

describe('renderCallCosts', () => {
  const summary = {
    usage: {
      'gpt-4o': {
        prompt_tokens: 1000,
        completion_tokens: 100,
        prompt_tokens_details: { cached_tokens: 200 },
        requests: 3,
      },
      mystery: { input_tokens: 5, output_tokens: 2 },
    },
  }

  it('shows tokens, unit prices and totals that add up', () => {
    const { costs, total_cost } = renderCallCosts(called(summary), prices)
    expect(costs?.['gpt-4o']).toEqual({
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      requests: 3,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 0,
      prompt_token_cost: 0.0000025,
      completion_token_cost: 0.00001,
      cache_read_input_token_cost: 0.00000125,
      cache_creation_input_token_cost: 0.0000025,
      prompt_tokens_total_cost: 0.002,
      completion_tokens_total_cost: 0.001,
      cache_read_input_tokens_total_cost: 0.00025,
      cache_creation_input_tokens_total_cost: 0,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      effective_date: null,
      provider_id: 'openai',
      pricing_level: 'default',
    })
    expect(total_cost).toBe(0.00325)
  })

  it('has an entry for a model of any name', () => {
    const odd = JSON.parse('{"usage": {"__proto__": {"prompt_tokens": 1000}}}')
    const found = renderCallCosts(called(odd), {
      ...prices,
      find: () => prices.find('gpt-4o', null, AT),
    })
    expect(Object.entries(found.costs ?? {})).toMatchObject([
      ['__proto__', { prompt_tokens_total_cost: 0.0025 }],
    ])
  })

  it('has no entry for a model without a price', () => {
    expect(Object.keys(renderCallCosts(called(summary), prices).costs ?? {})).toEqual(['gpt-4o'])
  })

  it.each([{}, { usage: null }, { usage: {} }, { usage: [] }])('is empty for %j', (empty) => {
    expect(renderCallCosts(called(empty), prices)).toEqual({})
  })
})
