import { describe, expect, it } from 'vitest'
import { findPricing, renderCallCosts } from '../../src/domain/prices/cost.ts'
import { createPriceTable } from '../../src/domain/prices/price-table.ts'
import { layerPrices, resolvePrice } from '../../src/domain/prices/project-prices.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { timestampUs } from '../../src/schemas/timestamp.ts'

const AT = timestampUs('2026-11-15T12:00:00Z')
const prices = createPriceTable()

/** What the call costs, compared with the same at the standard tier. */
function factorOf(model: string, provider: string, report: Record<string, unknown>) {
  const counts = { provider, prompt_tokens: 1000, completion_tokens: 1000 }
  const [tier, standard] = [{ ...counts, ...report }, counts].map((of) => costsOf(model, of))
  return Number(((tier?.total_cost ?? 0) / (standard?.total_cost ?? 0)).toFixed(3))
}

function costsOf(model: string, report: Record<string, unknown>, table = prices) {
  const summary = { usage: { [model]: report } }
  return renderCallCosts({ summary, attributes: {}, started_at_us: AT }, table)
}

describe('the price of a tier of service', () => {
  it.each([
    ['claude-sonnet-4-5', 'anthropic', 'batch', 0.5],
    ['claude-3-haiku-20240307', 'anthropic', 'batch', 0.5],
    ['gpt-4o', 'openai', 'batch', 0.5],
    ['gemini-2.5-flash', 'google', 'batch', 0.5],
    ['grok-4.3', 'x-ai', 'batch', 0.8],
    ['gpt-5', 'openai', 'flex', 0.5],
    ['gpt-5-2025-08-07', 'openai', 'flex', 0.5],
    ['o3', 'openai', 'flex', 0.5],
    ['gpt-4o', 'openai', 'priority', 1.7],
    ['gpt-4o-mini', 'openai', 'priority', 1.667],
    ['gpt-4.1', 'openai', 'priority', 1.75],
    ['gpt-4.1-nano', 'openai', 'priority', 2],
    ['o4-mini', 'openai', 'priority', 1.818],
    ['gpt-5', 'openai', 'priority', 2],
    ['gpt-5-mini', 'openai', 'priority', 1.8],
    ['gpt-5.4', 'openai', 'fast', 2],
    ['gpt-5.5', 'openai', 'priority', 2.5],
  ])('of %s at %s as %s is %d times the standard one', (model, provider, tier, factor) => {
    expect(factorOf(model, provider, { service_tier: tier })).toBe(factor)
    expect(costsOf(model, { provider, service_tier: tier }).costs?.[model]).toMatchObject({
      service_tier: tier,
    })
    expect(costsOf(model, { provider, service_tier: tier }).usage_problems).toBeUndefined()
  })

  it.each([
    ['gpt-4o', 'openai', 'flex'],
    ['claude-sonnet-4-5', 'anthropic', 'priority'],
    ['gpt-5-nano', 'openai', 'priority'],
    ['llama-3.3-70b-versatile', 'groq', 'performance'],
  ])(
    'of %s at %s as %s is not known: the standard one counts, which the call says',
    (model, provider, tier) => {
      expect(factorOf(model, provider, { service_tier: tier })).toBe(1)
      expect(costsOf(model, { provider, service_tier: tier }).usage_problems).toEqual([
        `${model}: service_tier ${tier} has the standard price`,
      ])
    },
  )

  it('has none for long input where the provider serves none', () => {
    const [usage] = readUsage({
      usage: { 'gpt-5.4': { provider: 'openai', service_tier: 'priority' } },
    })
    expect(findPricing(prices, usage!, AT)).toMatchObject({ input: { base: 5e9, tiers: [] } })
  })

  it('is that of the project, whatever the tier', () => {
    const cost = { prompt_token_cost: 1, completion_token_cost: 0 }
    const defaults = { project_id: 'a/b', id: 'p', svc_user_id: 'u', created_at_us: 0 }
    const table = layerPrices([resolvePrice('gpt-4o', cost, defaults)], prices)
    const found = costsOf('gpt-4o', { service_tier: 'batch', prompt_tokens: 3 }, table)
    expect(found).toMatchObject({ total_cost: 3 })
    expect(found.usage_problems).toBeUndefined()
  })
})

describe('the price of long input', () => {
  it.each([
    [271_999, 0.6799975],
    [272_000, 1.36],
  ])('of gpt-5.4 with %d tokens is as the list says: it begins at 272,000', (tokens, usd) => {
    expect(costsOf('gpt-5.4', { prompt_tokens: tokens }).total_cost).toBe(usd)
  })
})

describe('a model relayed under another name', () => {
  const report = { provider: 'openai', upstream_model: 'gpt-4o', prompt_tokens: 1_000_000 }

  it('has the price of its name at the upstream', () => {
    expect(costsOf('my-alias', report).total_cost).toBe(2.5)
    expect(costsOf('gpt-4o-mini', report).total_cost).toBe(2.5)
    expect(costsOf('my-alias', { ...report, service_tier: 'batch' }).total_cost).toBe(1.25)
  })

  it('has the price that the project has set for its own name first', () => {
    const cost = { prompt_token_cost: 1e-6, completion_token_cost: 0 }
    const defaults = { project_id: 'a/b', id: 'p', svc_user_id: 'u', created_at_us: 0 }
    const table = layerPrices([resolvePrice('my-alias', cost, defaults)], prices)
    expect(costsOf('my-alias', report, table).total_cost).toBe(1)
  })
})
