/** Counts each token once: derives the own usage of a call from what it and its descendants report. Pure. */
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { UsageCounting } from '../../schemas/usage/usage-counting.ts'
import type { CallUsage, ModelUsage } from './usage.ts'

/** What a report counts, `requests` included. */
export const USAGE_COUNTERS = [
  'requests',
  'input_tokens',
  'uncached_input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'input_audio_tokens',
  'input_image_tokens',
  'cache_read_audio_tokens',
  'cache_creation_1h_input_tokens',
  'reasoning_tokens',
  'output_audio_tokens',
  'output_image_tokens',
  'reported_cost_microcents',
] as const satisfies readonly (keyof CallUsage)[]

export type UsageCounters = Record<(typeof USAGE_COUNTERS)[number], number>

/** Tokens, of all of which a report that holds others has at least as much; uncached input follows from them. */
export const HELD_COUNTERS = USAGE_COUNTERS.filter(
  (counter) => counter !== 'uncached_input_tokens' && counter !== 'reported_cost_microcents',
)

/** What is less than this beside the reports of children comes of their rounding: a millionth of a dollar. */
export const COST_ROUNDING_MICROCENTS = 100

/** How a row of usage counts: the same either way, as a report alone, or as a call's own alone. */
export const COUNTS_BOTH = 0
const COUNTS_REPORTED = 1
const COUNTS_OWN = 2
export type Counts = typeof COUNTS_BOTH | typeof COUNTS_REPORTED | typeof COUNTS_OWN

/** A row of usage and how it counts. */
export interface CountedUsage extends ModelUsage {
  readonly counts: Counts
}

/** The rows that do not count when usage is counted in this way. */
export function excludedCounts(counting: UsageCounting): Counts {
  return counting === 'own' ? COUNTS_REPORTED : COUNTS_OWN
}

/** What a report adds to the sum of its siblings; a missing count of requests adds 0. */
export function addedUsage(usage: CallUsage): UsageCounters {
  const counters = Object.fromEntries(USAGE_COUNTERS.map((counter) => [counter, usage[counter]]))
  return { ...(counters as UsageCounters), requests: usage.tells_requests ? usage.requests : 0 }
}

/**
 * What a call used of a model itself.
 *
 * Spec: §2.5 summary (usage not shown). Choice: SDKs that add the usage of children to the summary of their parent
 * always tell `requests` and add them up, so a report without it is the call's own. So is one that has fewer requests,
 * or fewer tokens of any kind, than those of the children together; a report of nothing but a cost is measured by that.
 * From any other the children's reports are taken off, kind by kind, never below zero; so are their costs. Only children
 * that are stored and not deleted report, and of those that report one request one.
 *
 * @param nested - the sum of addedUsage over the children's reports of this model; null: there are none
 * @returns null for a report that only repeats its children's
 */
export function ownUsage(reported: CallUsage, nested: UsageCounters | null): CallUsage | null {
  if (nested === null || !reported.tells_requests) return reported
  if (!holdsNested(reported, nested)) return reported
  if (USAGE_COUNTERS.every((counter) => nested[counter] === 0)) return reported
  const own: UsageCounters & Omit<CallUsage, keyof UsageCounters> = { ...reported }
  for (const counter of USAGE_COUNTERS) {
    own[counter] = Math.max(0, reported[counter] - nested[counter])
  }
  if (own.reported_cost_microcents < COST_ROUNDING_MICROCENTS) own.reported_cost_microcents = 0
  return USAGE_COUNTERS.every((counter) => own[counter] === 0) ? null : own
}

function holdsNested(reported: CallUsage, nested: UsageCounters): boolean {
  if (HELD_COUNTERS.every((counter) => reported[counter] >= nested[counter])) return true
  const isCostOnly = reported.input_tokens + reported.output_tokens + reported.total_tokens === 0
  return (
    isCostOnly &&
    reported.reported_cost_microcents > 0 &&
    reported.reported_cost_microcents + COST_ROUNDING_MICROCENTS > nested.reported_cost_microcents
  )
}

/** Input and output of several reports, whatever their models. */
export type UsageSum = Record<'input_tokens' | 'output_tokens', number>

/**
 * Whether the report of a call is the sum of those of its children.
 *
 * Spec: §2.5 summary (usage not shown). Choice: equal input and equal output say so, however the call names its model, and whatever kinds and numbers of
 * requests it and its children have. A call that reports several models has them by name from its children.
 *
 * @param below - the sum over the children's reports
 */
export function repeatsChildren(reports: readonly CallUsage[], below: UsageSum): boolean {
  const [report] = reports
  if (report === undefined || reports.length > 1) return false
  const { input_tokens, output_tokens } = report
  if (input_tokens + output_tokens === 0) return false
  return input_tokens === below.input_tokens && output_tokens === below.output_tokens
}

export function sumReports(reports: readonly UsageSum[]): UsageSum {
  const sum = { input_tokens: 0, output_tokens: 0 }
  for (const report of reports) {
    sum.input_tokens = cap(sum.input_tokens + report.input_tokens)
    sum.output_tokens = cap(sum.output_tokens + report.output_tokens)
  }
  return sum
}

/** Sums stay integers that a double holds exactly. */
function cap(sum: number): number {
  return Math.max(0, Math.min(sum, Number.MAX_SAFE_INTEGER))
}

/**
 * The report of a call and its own usage, as one row where they are the same.
 *
 * @param isRepeat - whether all of it counts at other calls
 */
export function countUsage(
  reported: CallUsage,
  nested: UsageCounters | null,
  isRepeat = false,
): CountedUsage[] {
  const own = isRepeat ? null : ownUsage(reported, nested)
  if (own === reported) return [{ ...reported, counts: COUNTS_BOTH }]
  const rows: CountedUsage[] = [{ ...reported, counts: COUNTS_REPORTED }]
  if (own) rows.push({ ...own, counts: COUNTS_OWN })
  return rows
}

/** Fields of a filter that take calls out of their traces. */
const PICKING_FIELDS = [
  'op_names',
  'call_ids',
  'parent_ids',
  'input_refs',
  'output_refs',
] as const satisfies readonly (keyof CallsFilter)[]

/**
 * How usage is counted where the client leaves it open: each token once, and reports as they are where the filter
 * takes calls out of their traces, as there what a call reports stands for all below it.
 */
export function chooseCounting(
  asked: UsageCounting | null | undefined,
  filter: CallsFilter,
): UsageCounting {
  if (asked) return asked
  const isPicking = PICKING_FIELDS.some((field) => (filter[field] ?? []).length > 0)
  return isPicking || filter.trace_roots_only === true ? 'reported' : 'own'
}
