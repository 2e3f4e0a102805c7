/** The contract of usage over trees of calls. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { Expression } from '../../../domain/query/query-expression.ts'
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { UsageResponse } from '../../../schemas/usage/usage.ts'
import type { UsageCounting } from '../../../schemas/usage/usage-counting.ts'

/** Options of both queries. */
interface UsageWants {
  /** The project's own prices, as the price store lists them; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
  readonly counting: UsageCounting
  /** Limit: calls to read. */
  readonly limit: number
}

/** Calls selected by a filter, each with those of its descendants that are selected, too. */
export interface TraceUsageQuery extends UsageWants {
  readonly project_id: string
  readonly filter: CallsFilter
  /** Over USAGE_FIELDS; null: all. */
  readonly expression: Expression | null
}

/** Calls by id, each with all of its descendants in its trace. */
export interface CallsUsageQuery extends UsageWants {
  readonly project_id: string
  readonly call_ids: readonly string[]
}

/** All calls of some traces. */
export interface FailuresQuery {
  readonly project_id: string
  readonly trace_ids: readonly string[]
}

/** The failed descendants of calls, by trace and id; a call without any has no entry. */
export type FailuresByTrace = ReadonlyMap<string, ReadonlyMap<string, number>>

export interface UsageStore {
  /**
   * Usage of every selected call. Deleted calls and ends without a start are out.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `limit`) for more calls than the limit; server_overloaded,
   * read_timeout, client_closed_request, store_unavailable
   */
  sumTraceUsage(query: TraceUsageQuery, caller: ReadCaller): Promise<UsageResponse>
  /** Usage of every given call; an unknown one has none. Throws as sumTraceUsage does. */
  sumCallsUsage(query: CallsUsageQuery, caller: ReadCaller): Promise<UsageResponse>
  /**
   * Counts the failed descendants of calls in their traces. A trace with more than TREE_CALLS_MAX failed calls and calls
   * above them has no entry; in ClickHouse, all calls of a trace with a failed one are read.
   *
   * @throws ApiError as sumTraceUsage does, but for the limit
   */
  countFailures(query: FailuresQuery, caller: ReadCaller): Promise<FailuresByTrace>
}

/** Limit: calls of a trace whose trees are read. */
export const TREE_CALLS_MAX = 100_000
