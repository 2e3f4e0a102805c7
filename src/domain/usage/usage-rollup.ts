/** Usage of calls with all that they called. Pure: calls come in with their own usage and prices. */
import type { ModelUsageTotals } from '../../schemas/usage/usage.ts'
import { add, type CostParts, costParts, toUsd } from '../prices/cost.ts'
import type { UnitPrices } from '../prices/price-table.ts'
import type { Measured } from '../stats/aggregate.ts'
import type { CallUsage } from './usage.ts'

const COUNTERS = [
  'requests',
  'input_tokens',
  'uncached_input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const
const PARTS = ['uncached', 'cacheRead', 'cacheCreation', 'output'] as const

type Counters = Record<(typeof COUNTERS)[number], number>

/** What one model was used for; `cost` is null when nothing of it has a price. */
interface Totals extends Counters {
  cost: CostParts | null
}

/** A call that counts. */
export interface UsageCall {
  readonly id: string
  readonly parent_id: string | null
  /** Its own usage, as the client sent it. */
  readonly usage: readonly CallUsage[]
  /** Prices of a model when the call started; null when it has none. */
  readonly pricesOf: (model: string) => UnitPrices | null
}

export type UsageByModel = Record<string, ModelUsageTotals>

/**
 * Usage of each call, its descendants among the given calls included.
 *
 * Spec: §2.5 summary (usage not shown). Choice: SDKs add the usage of children to the summary of their
 * parent, others do not; so of a parent's own usage only what goes beyond its children's counts, for each
 * counter by itself. Each part is priced at the call that it was used in.
 *
 * @param includeCosts - false leaves all money null
 */
export function rollUpUsage(
  calls: readonly UsageCall[],
  includeCosts: boolean,
): Map<string, UsageByModel> {
  const totals = new Map(calls.map(({ id }) => [id, new Map<string, Totals>()]))
  for (const call of childrenFirst(calls)) {
    const own = totals.get(call.id) as Map<string, Totals>
    for (const usage of call.usage) addRest(own, usage, includeCosts ? call.pricesOf : null)
    const parent = call.parent_id === null ? undefined : totals.get(call.parent_id)
    if (!parent || call.parent_id === call.id) continue
    for (const [model, total] of own) addTotals(parent, model, total)
  }
  return new Map(
    [...totals].map(([id, models]) => [
      id,
      Object.fromEntries([...models].map(([model, total]) => [model, render(total)])),
    ]),
  )
}

/** Every call after all of its children; calls that call each other in a circle come last. */
function childrenFirst(calls: readonly UsageCall[]): UsageCall[] {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const waiting = new Map<string, number>()
  for (const { parent_id } of calls) {
    if (parent_id !== null) waiting.set(parent_id, (waiting.get(parent_id) ?? 0) + 1)
  }
  const sorted = calls.filter(({ id }) => !waiting.has(id))
  // The list grows while it is walked: a parent joins it behind its last child.
  for (const { parent_id } of sorted) {
    const parent = parent_id === null ? undefined : byId.get(parent_id)
    if (!parent) continue
    const left = (waiting.get(parent.id) ?? 0) - 1
    waiting.set(parent.id, left)
    if (left === 0) sorted.push(parent)
  }
  const placed = new Set(sorted)
  return [...sorted, ...calls.filter((call) => !placed.has(call))]
}

/** Adds what a call used beyond what is there of its children. */
function addRest(
  totals: Map<string, Totals>,
  usage: CallUsage,
  pricesOf: UsageCall['pricesOf'] | null,
): void {
  const children = totals.get(usage.model)
  const rest = { ...usage }
  for (const counter of COUNTERS) {
    rest[counter] = Math.max(0, usage[counter] - (children?.[counter] ?? 0))
  }
  const prices = pricesOf?.(usage.model) ?? null
  addTotals(totals, usage.model, { ...rest, cost: prices && costParts(rest, prices) })
}

function addTotals(totals: Map<string, Totals>, model: string, more: Totals): void {
  const known = totals.get(model)
  if (!known) {
    totals.set(model, { ...more })
    return
  }
  for (const counter of COUNTERS) known[counter] += more[counter]
  known.cost = addCosts(known.cost, more.cost)
}

function addCosts(left: CostParts | null, right: CostParts | null): CostParts | null {
  if (left === null || right === null) return left ?? right
  const sums = PARTS.map((part): [string, Measured] => [part, add(left[part], right[part])])
  return Object.fromEntries(sums) as unknown as CostParts
}

function render({ cost, ...total }: Totals): ModelUsageTotals {
  return {
    requests: total.requests,
    prompt_tokens: total.input_tokens,
    completion_tokens: total.output_tokens,
    total_tokens: total.total_tokens,
    cache_read_input_tokens: total.cache_read_input_tokens,
    cache_creation_input_tokens: total.cache_creation_input_tokens,
    prompt_tokens_total_cost: cost && toUsd(cost.uncached),
    completion_tokens_total_cost: cost && toUsd(cost.output),
    cache_read_input_tokens_total_cost: cost && toUsd(cost.cacheRead),
    cache_creation_input_tokens_total_cost: cost && toUsd(cost.cacheCreation),
  }
}
