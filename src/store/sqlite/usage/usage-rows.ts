/** Reads rows of call_usage: a call's report, and the sums of what its children report of the same model. */
import {
  type CountedUsage,
  countUsage,
  USAGE_COUNTERS,
  type UsageCounters,
} from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'

/**
 * Where counters begin in USAGE_ROW, after `model`, `provider` and `tells_requests`: first those of the report, then those
 * of the children, both in the order of USAGE_COUNTERS.
 */
const REPORTED_AT = 3
const NESTED_AT = REPORTED_AT + USAGE_COUNTERS.length

/** Returns the report of a row whose columns begin at `at`. */
export function readReport(row: readonly unknown[], at = 0): CallUsage {
  const [model, provider] = [row[at] as string, row[at + 1] as string | null]
  const tellsRequests = row[at + 2] === 1
  return { model, provider, tells_requests: tellsRequests, ...readCounters(row, at + REPORTED_AT) }
}

/** Returns the sums of the children's reports; null when there are none. */
export function readNested(row: readonly unknown[], at = 0): UsageCounters | null {
  return row[at + NESTED_AT] === null ? null : readCounters(row, at + NESTED_AT)
}

/** Returns the report and the call's own usage, as one row when they are equal. */
export function readCounted(row: readonly unknown[], at = 0): CountedUsage[] {
  return countUsage(readReport(row, at), readNested(row, at))
}

function readCounters(row: readonly unknown[], at: number): UsageCounters {
  const counters = USAGE_COUNTERS.map((counter, index) => [counter, row[at + index] as number])
  return Object.fromEntries(counters) as UsageCounters
}
