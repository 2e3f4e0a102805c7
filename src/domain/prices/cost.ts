/** The cost of a call, by model. Pure; the caller provides the prices. */
import type { JsonObject } from '../../schemas/primitives.ts'
import type { Measured } from '../stats/exact-sum.ts'
import {
  type CallUsage,
  findUsageDoubts,
  type ModelUsage,
  type PricedModel,
  readUsage,
  type UsageDoubt,
} from '../usage/usage.ts'
import type { TokenCounts } from '../usage/usage-report.ts'
import { identifyReporter } from '../usage/usage-reporter.ts'
import { ATOMS_PER_USD, type PriceTable, type UnitPrice, type UnitPrices } from './price-table.ts'
import { atServiceTier } from './service-tiers.ts'

const ATOMS_PER_MICROCENT = ATOMS_PER_USD / 1e8

/** What a model costs that has no price and whose cost the client reports. */
export const AS_REPORTED = 'as reported'
export type Pricing = UnitPrices | typeof AS_REPORTED

/**
 * Returns the prices of a model when a call started, at the tier that served it; null when it has none and its cost is not
 * reported either.
 *
 * Spec: §2.8 (cost metrics not shown). Choice: a price that the project has set for the name of the model comes first, then
 * one of its name at the upstream. What a client reports as the cost counts only where there is no price.
 */
export function findPricing(
  prices: PriceTable,
  { model, provider, upstream_model, service_tier, reports_cost }: PricedModel,
  startedAtUs: number,
): Pricing | null {
  const named = prices.find(model, provider, startedAtUs)
  const served =
    upstream_model === null || named?.origin
      ? null
      : prices.find(upstream_model, provider, startedAtUs)
  if (served) return atServiceTier(served, upstream_model ?? model, service_tier)
  if (named) return atServiceTier(named, model, service_tier)
  return reports_cost ? AS_REPORTED : null
}

/** Returns a time after `us`: for all times from `us` to before it, findPricing gives the same. */
export function steadyUntilUs(
  prices: PriceTable,
  { model, provider, upstream_model }: PricedModel,
  us: number,
): number {
  const named = prices.steadyUntilUs(model, provider, us)
  if (upstream_model === null) return named
  return Math.min(named, prices.steadyUntilUs(upstream_model, provider, us))
}

/** The tokens that are paid for. */
type PaidTokens = Omit<TokenCounts, 'input_tokens' | 'total_tokens'>

/** Money in atoms of 10^-15 dollars, by kind of token. */
export interface CostParts {
  readonly uncached: Measured
  readonly cacheRead: Measured
  readonly cacheCreation: Measured
  readonly output: Measured
}

/**
 * The cost of one model in one call. Cached tokens are paid once, at their own price.
 *
 * @param inputTokens - what decides the tier; for sums over calls the input of the longest, see linearInputMax
 *
 * Spec: §2.8 (cost metrics not shown). Choice: the tier of a tiered price follows all input tokens of
 * the call and holds for each of them.
 */
export function costParts(
  tokens: PaidTokens,
  prices: UnitPrices,
  inputTokens: number = allInput(tokens),
): CostParts {
  const pay = (count: number, price: UnitPrice) => multiply(count, priceAt(price, inputTokens))
  // What a part costs more, or less, than the whole that it belongs to: linear in every count, so that the cost of sums
  // is the sum of costs.
  const extra = (count: number, price: UnitPrice | undefined, whole: UnitPrice): Measured =>
    count === 0 || !price ? 0 : add(pay(count, price), pay(-count, whole))
  const { input, output, cacheRead, cacheCreation } = prices
  const audioIn = extra(tokens.input_audio_tokens, prices.inputAudio, input)
  const imageIn = extra(tokens.input_image_tokens, prices.inputImage, input)
  const audioRead = extra(tokens.cache_read_audio_tokens, prices.cacheReadAudio, cacheRead)
  const forHour = tokens.cache_creation_1h_input_tokens
  const reasoning = extra(tokens.reasoning_tokens, prices.reasoning, output)
  const audioOut = extra(tokens.output_audio_tokens, prices.outputAudio, output)
  const imageOut = extra(tokens.output_image_tokens, prices.outputImage, output)
  return {
    uncached: add(pay(tokens.uncached_input_tokens, input), add(audioIn, imageIn)),
    cacheRead: add(pay(tokens.cache_read_input_tokens, cacheRead), audioRead),
    cacheCreation: add(
      pay(tokens.cache_creation_input_tokens, cacheCreation),
      extra(forHour, prices.cacheCreation1h, cacheCreation),
    ),
    output: add(pay(tokens.output_tokens, output), add(reasoning, add(audioOut, imageOut))),
  }
}

/** The input that is paid for. */
function allInput(tokens: PaidTokens): number {
  return (
    tokens.uncached_input_tokens +
    tokens.cache_read_input_tokens +
    tokens.cache_creation_input_tokens
  )
}

/** The longest input of a call that reaches no tier: up to it the cost of a sum of tokens is the sum of the costs. */
export function linearInputMax(prices: UnitPrices): number {
  const units = Object.values(prices).filter(
    (value): value is UnitPrice => typeof value === 'object' && value !== null && 'tiers' in value,
  )
  let most = Number.POSITIVE_INFINITY
  for (const { tiers } of units) {
    for (const { above } of tiers) most = Math.min(most, above)
  }
  return most
}

/** What a usage costs, by model; models without a price are left out. */
export function priceUsage(
  { summary, attributes, started_at_us }: PricedCall,
  prices: PriceTable,
): { readonly model: string; readonly atoms: Measured }[] {
  return readUsage(summary, identifyReporter(attributes)).flatMap((usage) => {
    const found = findPricing(prices, usage, started_at_us)
    if (found === null) return []
    const isReported = found === AS_REPORTED
    const atoms = isReported
      ? reportedCost(usage.reported_cost_microcents)
      : totalCost(costParts(usage, found))
    return [{ model: usage.model, atoms }]
  })
}

/** What a client reports as the cost. */
export function reportedCost(microcents: number): Measured {
  return multiply(microcents, ATOMS_PER_MICROCENT)
}

/** The cost of the input, cached parts included. */
export function inputCost({ uncached, cacheRead, cacheCreation }: CostParts): Measured {
  return add(add(uncached, cacheRead), cacheCreation)
}

/** The cost of input and output. */
export function totalCost(parts: CostParts): Measured {
  return add(inputCost(parts), parts.output)
}

/** The dollars of all of them; null: there are none. */
export function totalUsd(costs: readonly { readonly atoms: Measured }[]): number | null {
  if (costs.length === 0) return null
  return toUsd(costs.reduce<Measured>((sum, { atoms }) => add(sum, atoms), 0))
}

export function toUsd(atoms: Measured): number {
  return Number(atoms) / ATOMS_PER_USD
}

/** The cost entries of `summary.weave`: both or none; and what is in doubt about the usage that they price. */
export interface CallCosts {
  /** By model. */
  readonly costs?: JsonObject
  /** In US dollars, all models together. */
  readonly total_cost?: number
  /** Models whose report can be read in two ways; absent: none. */
  readonly usage_ambiguous?: readonly string[]
  /** Each as `<model>: <field> <rule>`; absent: none. */
  readonly usage_problems?: readonly string[]
}

/** A call whose costs are rendered; without its attributes, no reporter of usage is known. */
interface PricedCall {
  readonly summary: JsonObject
  readonly attributes: unknown
  readonly started_at_us: number
}

/**
 * What the usage that a call reports costs: in `costs` an entry for each of its models that has a price or reports its
 * cost, in `total_cost` their sum. The four total costs of a model with a price add up to what it cost: the cached tokens
 * are not in prompt_tokens_total_cost. The others have the `pricing_level` "reported" and only their `reported_cost`.
 *
 * Spec: §4.5 include_costs (shape not shown). Choice: `costs` has the shape of Weave, in which a model without a price
 * has no entry; the other entries are additions, absent where there is nothing to say.
 */
export function renderCallCosts(
  { summary, attributes, started_at_us }: PricedCall,
  prices: PriceTable,
): CallCosts {
  const reporter = identifyReporter(attributes)
  const costs = new Map<string, JsonObject>()
  let total: Measured | null = null
  const unpricedTiers: string[] = []
  for (const usage of readUsage(summary, reporter)) {
    const found = findPricing(prices, usage, started_at_us)
    if (!found) continue
    const reported = reportedCost(usage.reported_cost_microcents)
    const beside = usage.reports_cost ? { reported_cost: toUsd(reported) } : {}
    if (found === AS_REPORTED) {
      costs.set(usage.model, { ...renderTokens(usage), ...beside, pricing_level: 'reported' })
      total = add(total ?? 0, reported)
      continue
    }
    const parts = costParts(usage, found)
    costs.set(usage.model, {
      ...renderTokens(usage),
      ...renderMoney(usage, found, parts),
      ...beside,
    })
    total = add(total ?? 0, totalCost(parts))
    const { model, service_tier } = usage
    if (service_tier !== null && !found.origin && found.service_tier === undefined)
      unpricedTiers.push(`${model}: service_tier ${service_tier} has the standard price`)
  }
  return {
    ...(total === null ? {} : { costs: Object.fromEntries(costs), total_cost: toUsd(total) }),
    ...renderDoubts(findUsageDoubts(summary, reporter), unpricedTiers),
  }
}

function renderDoubts(doubts: readonly UsageDoubt[], unpricedTiers: readonly string[]): CallCosts {
  const ambiguous = doubts.filter(({ isAmbiguous }) => isAmbiguous).map(({ model }) => model)
  const problems = doubts.flatMap(({ model, problems }) =>
    problems.map((problem) => `${model}: ${problem}`),
  )
  problems.push(...unpricedTiers)
  return {
    ...(ambiguous.length > 0 ? { usage_ambiguous: ambiguous } : {}),
    ...(problems.length > 0 ? { usage_problems: problems } : {}),
  }
}

function renderTokens(usage: CallUsage): JsonObject {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    cache_creation_input_tokens: usage.cache_creation_input_tokens,
    total_tokens: usage.total_tokens,
    requests: usage.requests,
  }
}

function renderMoney(usage: ModelUsage, prices: UnitPrices, parts: CostParts): JsonObject {
  const inputTokens = allInput(usage)
  const unit = (price: UnitPrice) => toUsd(priceAt(price, inputTokens))
  return {
    prompt_token_cost: unit(prices.input),
    completion_token_cost: unit(prices.output),
    cache_read_input_token_cost: unit(prices.cacheRead),
    cache_creation_input_token_cost: unit(prices.cacheCreation),
    prompt_tokens_total_cost: toUsd(parts.uncached),
    completion_tokens_total_cost: toUsd(parts.output),
    cache_read_input_tokens_total_cost: toUsd(parts.cacheRead),
    cache_creation_input_tokens_total_cost: toUsd(parts.cacheCreation),
    prompt_token_cost_unit: 'USD',
    completion_token_cost_unit: 'USD',
    effective_date: prices.effective_date,
    provider_id: prices.provider_id,
    ...(prices.service_tier === undefined ? {} : { service_tier: prices.service_tier }),
    ...(prices.origin ?? { pricing_level: 'default' }),
  }
}

function priceAt({ base, tiers }: UnitPrice, inputTokens: number): Measured {
  let price = base
  for (const tier of tiers) if (inputTokens > tier.above) price = tier.price
  return price
}

function multiply(tokens: number, price: Measured): Measured {
  const product = typeof price === 'number' ? tokens * price : Number.NaN
  return Number.isSafeInteger(product) ? product : BigInt(tokens) * BigInt(price)
}

/** Exact, whatever the size. */
export function add(a: Measured, b: Measured): Measured {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(a) + BigInt(b)
}
