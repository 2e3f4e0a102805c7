/** The contract of statistics over calls. */
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { BucketTable } from '../../../domain/stats/bucket-table.ts'
import type { StatColumn } from '../../../domain/stats/metric-names.ts'
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { CallMetric, UsageMetric } from '../../../schemas/stats/stats.ts'
import type { UsageCounting } from '../../../schemas/usage/usage-counting.ts'
import type { ReadCaller } from '../read-caller.ts'

/** What to compute, over which calls, in which buckets. Times in microseconds. */
export interface StatsQuery {
  readonly project_id: string
  readonly filter: CallsFilter
  /** Calls that started in [startUs, endUs). */
  readonly startUs: number
  readonly endUs: number
  /** Where the buckets begin: ascending, the first not after startUs, all before endUs. */
  readonly startsUs: Float64Array
  /** Empty: calls are not looked at by themselves. */
  readonly callColumns: readonly StatColumn<CallMetric>[]
  /** Empty: usage is not looked at. */
  readonly usageColumns: readonly StatColumn<UsageMetric>[]
  /** The project's own prices, as the store of prices lists them; none where no column is money. */
  readonly prices: readonly ProjectPrice[]
  readonly counting: UsageCounting
  /** Limit on values of all tables together. */
  readonly valuesMax: number
}

/** The usage of one model. */
interface ModelTable {
  readonly model: string
  readonly table: BucketTable
}

export interface StatsResult {
  readonly calls: BucketTable | null
  /** One table for each model with usage in the window, sorted by name. */
  readonly usage: readonly ModelTable[]
  /** Models without a price, sorted; empty when no cost was asked for. */
  readonly unpricedModels: readonly string[]
}

/** The same as the API shows it: lists of buckets in JSON, UTF-8, each cut into pieces. */
export interface StatsTexts {
  readonly callBuckets: readonly Uint8Array<ArrayBuffer>[]
  readonly usageBuckets: readonly Uint8Array<ArrayBuffer>[]
  readonly unpricedModels: readonly string[]
}

export interface StatsStore {
  /**
   * The exact values of every bucket, over all calls that were acknowledged before. Deleted calls and ends
   * without a start are out; a call that still runs counts, without latency and usage. Costs are those
   * at the start of each call.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `granularity`) for more than valuesMax values,
   * server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  aggregate(query: StatsQuery, caller: ReadCaller): Promise<StatsResult>
  /**
   * The same, rendered. Callers that ask the same at the same time may share one computation, which stops when
   * the last of them has left; it never begins before any of them has asked.
   *
   * @throws what aggregate throws
   */
  render(query: StatsQuery, caller: ReadCaller): Promise<StatsTexts>
}
