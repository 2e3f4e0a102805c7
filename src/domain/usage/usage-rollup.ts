/** Sums the usage of calls with their descendants. Pure; calls come with their own usage and prices. */
import type { ModelUsageTotals } from '../../schemas/usage/usage.ts'
import type { UsageCounting } from '../../schemas/usage/usage-counting.ts'
import {
  AS_REPORTED,
  add,
  type CostParts,
  costParts,
  type Pricing,
  reportedCost,
  toUsd,
} from '../prices/cost.ts'
import type { Measured } from '../stats/exact-sum.ts'
import { addedUsage, ownUsage, USAGE_COUNTERS, type UsageCounters } from './own-usage.ts'
import type { CallUsage, PricedModel } from './usage.ts'

const PARTS = ['uncached', 'cacheRead', 'cacheCreation', 'output'] as const

/** What one model was used for; `cost` is null when nothing of it has a price. */
interface Totals extends UsageCounters {
  cost: CostParts | null
  /** What is reported for the part that has no price; null: nothing. */
  reported: Measured | null
}

/** A call that counts. */
export interface UsageCall {
  readonly id: string
  readonly parent_id: string | null
  /** What it reports. */
  readonly usage: readonly CallUsage[]
  /** Prices of a model when the call started; null when it has none. */
  readonly pricesOf: (used: PricedModel) => Pricing | null
}

type UsageByModel = Record<string, ModelUsageTotals>

/**
 * Usage of each call, its descendants among the given calls included. What a report holds of children that are not among
 * them stays with it. Each part is priced at the call that it was used in.
 *
 * @param includeCosts - false leaves all money null
 */
export function rollUpUsage(
  calls: readonly UsageCall[],
  counting: UsageCounting,
  includeCosts: boolean,
): Map<string, UsageByModel> {
  const totals = new Map(calls.map(({ id }) => [id, new Map<string, Totals>()]))
  const nested = counting === 'own' ? sumChildren(calls) : null
  const isAdded = new Set<string>()
  for (const call of childrenFirst(calls)) {
    const sums = totals.get(call.id) as Map<string, Totals>
    for (const report of call.usage) {
      const used = ownUsage(report, nested?.get(call.id)?.get(report.model) ?? null)
      const prices = includeCosts ? call.pricesOf(report) : null
      if (used) addTotals(sums, used.model, { ...used, ...payFor(used, prices) })
    }
    const parent = call.parent_id === null ? undefined : totals.get(call.parent_id)
    isAdded.add(call.id)
    // Calls in a circle would otherwise get their own usage back.
    if (!parent || isAdded.has(call.parent_id as string)) continue
    for (const [model, total] of sums) addTotals(parent, model, total)
  }
  return new Map(
    [...totals].map(([id, models]) => [
      id,
      Object.fromEntries([...models].map(([model, total]) => [model, render(total)])),
    ]),
  )
}

/** What the children of each call report together, by model. */
function sumChildren(calls: readonly UsageCall[]): Map<string, Map<string, UsageCounters>> {
  const sums = new Map<string, Map<string, UsageCounters>>()
  for (const { id, parent_id, usage } of calls) {
    if (parent_id === null || parent_id === id) continue
    const ofParent = sums.get(parent_id) ?? new Map<string, UsageCounters>()
    sums.set(parent_id, ofParent)
    for (const report of usage) {
      const added = addedUsage(report)
      const known = ofParent.get(report.model)
      for (const counter of USAGE_COUNTERS) added[counter] += known?.[counter] ?? 0
      ofParent.set(report.model, added)
    }
  }
  return sums
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

function payFor(used: CallUsage, prices: Pricing | null): Pick<Totals, 'cost' | 'reported'> {
  if (prices === null) return { cost: null, reported: null }
  return prices === AS_REPORTED
    ? { cost: null, reported: reportedCost(used.reported_cost_microcents) }
    : { cost: costParts(used, prices), reported: null }
}

function addTotals(totals: Map<string, Totals>, model: string, more: Totals): void {
  const known = totals.get(model)
  if (!known) {
    totals.set(model, { ...more })
    return
  }
  for (const counter of USAGE_COUNTERS) known[counter] += more[counter]
  known.cost = addCosts(known.cost, more.cost)
  const { reported } = more
  if (reported !== null) known.reported = add(known.reported ?? 0, reported)
}

function addCosts(left: CostParts | null, right: CostParts | null): CostParts | null {
  if (left === null || right === null) return left ?? right
  const sums = PARTS.map((part): [string, Measured] => [part, add(left[part], right[part])])
  return Object.fromEntries(sums) as unknown as CostParts
}

function render({ cost, reported, ...total }: Totals): ModelUsageTotals {
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
    reported_cost: reported === null ? null : toUsd(reported),
  }
}
