/**
 * Sums the usage of calls with their descendants. Pure; calls come with their own usage and prices. 100,000 calls take more than a
 * second of processor time: what is done for each call yields after some, so that its caller may let other work in.
 */
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
import {
  addedUsage,
  ownUsage,
  repeatsChildren,
  sumReports,
  USAGE_COUNTERS,
  type UsageCounters,
} from './own-usage.ts'
import { findCounting, isBefore, REQUEST_CALLS_MAX } from './request-identity.ts'
import type { CallUsage, PricedModel } from './usage.ts'

/** Calls between two yields; some 10 ms of processor time. */
const CALLS_BETWEEN_YIELDS = 1_000

/** Work that yields now and then, and returns its value at the end. */
export type PausingWork<Value> = Generator<void, Value>

/** Returns a predicate that is true each time that work has to yield. */
export function createYieldCounter(): () => boolean {
  let calls = 0
  return () => {
    calls += 1
    return calls % CALLS_BETWEEN_YIELDS === 0
  }
}

const PARTS = ['uncached', 'cacheRead', 'cacheCreation', 'output'] as const

/** What one model was used for; `cost` is null when nothing of it has a price. */
interface Totals extends UsageCounters {
  cost: CostParts | null
  /** What is reported for the part that has no price; null: nothing. */
  reported: Measured | null
}

interface CallInTree {
  readonly id: string
  readonly parent_id: string | null
}

/** A call that counts. */
export interface UsageCall extends CallInTree {
  readonly started_at_us: number
  /** Identifies the request that it reports; default: nothing does. */
  readonly request?: string | null
  /** What it reports. */
  readonly usage: readonly CallUsage[]
  /** Prices of a model when the call started; null when it has none. */
  readonly pricesOf: (used: PricedModel) => Pricing | null
}

type UsageByModel = Record<string, ModelUsageTotals>

/**
 * Usage of each call, its descendants among the given calls included. What a report holds of children that are not among
 * them stays with it, and so does a request that only calls outside of them repeat. Each part is priced at the call that
 * it was used in.
 *
 * @param includeCosts - false leaves all money null
 */
export function* rollUpUsage(
  calls: readonly UsageCall[],
  counting: UsageCounting,
  includeCosts: boolean,
): PausingWork<Map<string, UsageByModel>> {
  const isYieldDue = createYieldCounter()
  const totals = new Map(calls.map(({ id }) => [id, new Map<string, Totals>()]))
  const below = counting === 'own' ? yield* sumBelow(calls) : null
  const isAdded = new Set<string>()
  for (const call of yield* childrenFirst(calls)) {
    if (isYieldDue()) yield
    const sums = totals.get(call.id) as Map<string, Totals>
    for (const report of below?.repeats.has(call.id) ? [] : call.usage) {
      const used = ownUsage(report, below?.sums.get(call.id)?.get(report.model) ?? null)
      const prices = includeCosts ? call.pricesOf(report) : null
      if (used) addTotals(sums, used.model, { ...used, ...payFor(used, prices) })
    }
    const parent = call.parent_id === null ? undefined : totals.get(call.parent_id)
    isAdded.add(call.id)
    // Calls in a circle would otherwise get their own usage back.
    if (!parent || isAdded.has(call.parent_id as string)) continue
    for (const [model, total] of sums) addTotals(parent, model, total)
  }
  const rendered = new Map<string, UsageByModel>()
  for (const [id, models] of totals) {
    if (isYieldDue()) yield
    rendered.set(
      id,
      Object.fromEntries([...models].map(([model, total]) => [model, render(total)])),
    )
  }
  return rendered
}

/** Counts the failed descendants of each call among the given calls; a call without any has no entry. */
export function* countFailedBelow(
  calls: readonly (CallInTree & { readonly isFailed: boolean })[],
): PausingWork<Map<string, number>> {
  const isYieldDue = createYieldCounter()
  const below = new Map<string, number>()
  const known = new Set(calls.map(({ id }) => id))
  const isAdded = new Set<string>()
  for (const { id, parent_id, isFailed } of yield* childrenFirst(calls)) {
    if (isYieldDue()) yield
    isAdded.add(id)
    const failed = (below.get(id) ?? 0) + Number(isFailed)
    // Calls in a circle would otherwise count themselves.
    if (failed === 0 || parent_id === null || isAdded.has(parent_id)) continue
    if (!known.has(parent_id)) continue
    below.set(parent_id, (below.get(parent_id) ?? 0) + failed)
  }
  return below
}

type SumsByModel = Map<string, UsageCounters>

/** What the children of each call report together, each request once, and the calls all of whose usage counts elsewhere. */
function* sumBelow(given: readonly UsageCall[]) {
  const isYieldDue = createYieldCounter()
  const calls = withoutSharedIds(given)
  const byId = new Map(calls.map((call) => [call.id, call]))
  const children = Map.groupBy(
    calls.filter(({ usage }) => usage.length > 0),
    ({ parent_id }) => parent_id,
  )
  const sums = new Map<string, SumsByModel>()
  const repeats = new Set<string>()
  const reporting = new Set<string>()
  yield
  for (const [id, ofParent] of children) {
    if (isYieldDue()) yield
    const parent = id === null ? undefined : byId.get(id)
    if (!parent) continue
    const reports = reportsBelow(parent, ofParent)
    const { input_tokens, output_tokens } = sumReports(reports)
    sums.set(parent.id, sumByModel(reports))
    if (input_tokens + output_tokens > 0) reporting.add(parent.id)
    if (repeatsChildren(parent.usage, { input_tokens, output_tokens })) repeats.add(parent.id)
  }
  const requests = Map.groupBy(calls, ({ request }) => request)
  for (const [request, group] of requests) {
    if (isYieldDue()) yield
    if (request === undefined || request === null) continue
    const members = group.map((call) => ({ ...call, hasReportsBelow: reporting.has(call.id) }))
    const { id } = findCounting(members)
    for (const member of members) if (member.id !== id) repeats.add(member.id)
  }
  return { sums, repeats }
}

/** A response id that too many calls share identifies nothing. */
function withoutSharedIds(calls: readonly UsageCall[]): UsageCall[] {
  const shared = new Map<string | null | undefined, number>()
  for (const { request } of calls) shared.set(request, (shared.get(request) ?? 0) + 1)
  return calls.map((call) =>
    (shared.get(call.request) ?? 0) > REQUEST_CALLS_MAX ? { ...call, request: null } : call,
  )
}

/** The reports of children: of those of one request one. None is of the parent's own request, or of its own parent. */
function reportsBelow(parent: UsageCall, children: readonly UsageCall[]): CallUsage[] {
  const requests = new Map<string, UsageCall>()
  for (const child of children) {
    const { id, request } = child
    if (id === parent.id || (request && request === parent.request)) continue
    if (id === parent.parent_id && isBefore(child, parent)) continue
    const key = request ?? `call ${id}`
    const known = requests.get(key)
    if (!known || id < known.id) requests.set(key, child)
  }
  return [...requests.values()].flatMap(({ usage }) => usage)
}

function sumByModel(reports: readonly CallUsage[]): SumsByModel {
  const sums: SumsByModel = new Map()
  for (const report of reports) {
    const added = addedUsage(report)
    const known = sums.get(report.model)
    for (const counter of USAGE_COUNTERS) added[counter] += known?.[counter] ?? 0
    sums.set(report.model, added)
  }
  return sums
}

/** Every call after all of its children; calls that call each other in a circle come last. */
function* childrenFirst<C extends CallInTree>(calls: readonly C[]): PausingWork<C[]> {
  const isYieldDue = createYieldCounter()
  const byId = new Map(calls.map((call) => [call.id, call]))
  const waiting = new Map<string, number>()
  for (const { parent_id } of calls) {
    if (parent_id !== null) waiting.set(parent_id, (waiting.get(parent_id) ?? 0) + 1)
  }
  const sorted = calls.filter(({ id }) => !waiting.has(id))
  // The list grows while it is walked: a parent joins it behind its last child.
  for (const { parent_id } of sorted) {
    if (isYieldDue()) yield
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
