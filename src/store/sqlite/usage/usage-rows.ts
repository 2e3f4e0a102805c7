/** Reads rows of call_usage: a call's report, and the sums of what its children report of the same model. */
import {
  type CountedUsage,
  countUsage,
  USAGE_COUNTERS,
  type UsageCounters,
} from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'

/**
 * Where counters begin in USAGE_ROW, after what readReport reads by name: first those of the report, then those of the
 * children, both in the order of USAGE_COUNTERS, and then whether the report counts at other calls.
 */
const REPORTED_AT = 6
const NESTED_AT = REPORTED_AT + USAGE_COUNTERS.length
const REPEATS_AT = NESTED_AT + USAGE_COUNTERS.length
/** Columns of USAGE_ROW. */
export const USAGE_COLUMNS = REPEATS_AT + 1

/** Returns the report of a row whose columns begin at `at`. */
export function readReport(row: readonly unknown[], at = 0): CallUsage {
  return {
    model: row[at] as string,
    provider: row[at + 1] as string | null,
    upstream_model: row[at + 2] as string | null,
    service_tier: row[at + 3] as string | null,
    reports_cost: row[at + 4] === 1,
    tells_requests: row[at + 5] === 1,
    ...readCounters(row, at + REPORTED_AT),
  }
}

/** Returns the sums of the children's reports; null when there are none. */
export function readNested(row: readonly unknown[], at = 0): UsageCounters | null {
  return row[at + NESTED_AT] === null ? null : readCounters(row, at + NESTED_AT)
}

/** Returns the report and the call's own usage, as one row when they are equal. */
export function readCounted(row: readonly unknown[], at = 0): CountedUsage[] {
  return countUsage(readReport(row, at), readNested(row, at), row[at + REPEATS_AT] !== 0)
}

function readCounters(row: readonly unknown[], at: number): UsageCounters {
  const counters = {} as UsageCounters
  let index = at
  for (const counter of USAGE_COUNTERS) counters[counter] = row[index++] as number
  return counters
}
