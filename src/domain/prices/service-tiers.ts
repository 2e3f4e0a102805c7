/**
 * What a tier of service costs compared with the standard price, which alone is in the list of the package. Pure.
 *
 * Source: the price variants of genai-prices 0.2.3 for Python, and Anthropic's price list, by which a batch costs half of
 * any model.
 */
import { isObject } from '../json/is-object.ts'
import type { Measured } from '../stats/exact-sum.ts'
import type { UnitPrice, UnitPrices } from './price-table.ts'

interface TierPrice {
  /** Ids of providers in the list. */
  readonly providers: readonly string[]
  readonly tiers: readonly string[]
  readonly models: RegExp
  /** Numerator and denominator of what the standard price is multiplied by. */
  readonly factor: readonly [number, number]
  /** Whether long input has no price of its own. */
  readonly isFlat?: true
}

const OPENAI = ['openai']
/** OpenAI's two names for it. */
const PRIORITY = ['priority', 'fast']

const TIER_PRICES: readonly TierPrice[] = [
  { providers: ['anthropic'], tiers: ['batch'], models: /^/, factor: [1, 2] },
  {
    providers: ['openai', 'google', 'mistral', 'groq'],
    tiers: ['batch'],
    models: /^/,
    factor: [1, 2],
  },
  { providers: ['x-ai'], tiers: ['batch'], models: /^grok-4\.(20|3)/, factor: [4, 5] },
  { providers: OPENAI, tiers: ['flex'], models: /^(gpt-(5|6)|o3|o4-mini)/, factor: [1, 2] },
  { providers: ['google'], tiers: ['flex'], models: /^gemini-3\.[5-9]/, factor: [1, 2] },
  { providers: ['google'], tiers: ['priority'], models: /^gemini-3\.[78]/, factor: [9, 5] },
  {
    providers: ['anthropic'],
    tiers: ['fast'],
    models: /^claude-(opus-(4-8|5)|fable-5-2|mythos)/,
    factor: [2, 1],
  },
  ...(
    [
      [/^gpt-4o-mini/, 5, 3],
      [/^gpt-4o-2024-05-13$/, 7, 4],
      [/^gpt-4o/, 17, 10],
      [/^gpt-4\.1-nano/, 2, 1],
      [/^(gpt-4\.1|o3)/, 7, 4],
      [/^o4-mini/, 20, 11],
      [/^gpt-5-mini/, 9, 5],
      [/^gpt-5\.5(?!-pro)/, 5, 2],
      [/^gpt-(5|6)(?!.*-(nano|pro))/, 2, 1],
    ] as const
  ).map(
    ([models, ...factor]): TierPrice => ({
      providers: OPENAI,
      tiers: PRIORITY,
      models,
      factor,
      isFlat: true,
    }),
  ),
]

/** By the standard prices of a model, then by tier. */
const known = new WeakMap<UnitPrices, Map<string, UnitPrices>>()

/**
 * Returns the prices of a tier: the standard ones where none are known for it.
 *
 * Spec: §2.8 (prices not shown). Choice: a price that a project has set holds for every tier.
 *
 * @param tier - null: the standard one
 */
export function atServiceTier(prices: UnitPrices, model: string, tier: string | null): UnitPrices {
  if (tier === null || prices.origin) return prices
  const found = known.get(prices)?.get(tier)
  if (found) return found
  const read = readTier(prices, model, tier)
  if (read === null) return prices
  known.set(prices, (known.get(prices) ?? new Map()).set(tier, read))
  return read
}

function readTier(prices: UnitPrices, model: string, tier: string): UnitPrices | null {
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/^ft:/, '')
  const price = TIER_PRICES.find(
    ({ providers, tiers, models }) =>
      providers.includes(prices.provider_id) && tiers.includes(tier) && models.test(name),
  )
  if (!price) return null
  const scaled = Object.entries(prices).map(([kind, value]) => [
    kind,
    isUnitPrice(value) ? scale(value, price) : value,
  ])
  return { ...(Object.fromEntries(scaled) as unknown as UnitPrices), service_tier: tier }
}

function isUnitPrice(value: unknown): value is UnitPrice {
  return isObject(value) && 'tiers' in value
}

/** The prices of the package are numbers. */
function scale({ base, tiers }: UnitPrice, { factor, isFlat }: TierPrice): UnitPrice {
  const [numerator, denominator] = factor
  const times = (price: Measured) => Math.round((Number(price) * numerator) / denominator)
  return {
    base: times(base),
    tiers: isFlat ? [] : tiers.map(({ above, price }) => ({ above, price: times(price) })),
  }
}
