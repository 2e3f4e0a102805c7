/** Reads rows of call_usage: a call's report, and the sums of what its children report of the same model. */
import {
  type CountedUsage,
  countUsage,
  type UsageCounters,
} from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'

/**
 * Where counters begin in USAGE_ROW, after `model` and `tells_requests`: first those of the report, then those of the
 * children, both in the order of USAGE_COUNTERS.
 */
const REPORTED_AT = 2
const NESTED_AT = 9

/** Returns the report of a row whose columns begin at `at`. */
export function readReport(row: readonly unknown[], at = 0): CallUsage {
  const [model, tellsRequests] = [row[at] as string, row[at + 1] === 1]
  return { model, tells_requests: tellsRequests, ...readCounters(row, at + REPORTED_AT) }
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
  const values = row as readonly number[]
  return {
    requests: values[at] as number,
    input_tokens: values[at + 1] as number,
    uncached_input_tokens: values[at + 2] as number,
    output_tokens: values[at + 3] as number,
    total_tokens: values[at + 4] as number,
    cache_read_input_tokens: values[at + 5] as number,
    cache_creation_input_tokens: values[at + 6] as number,
  }
}
