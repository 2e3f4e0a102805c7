/** The contract of statistics over calls. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'
import type { BucketTable } from '../../../domain/stats/bucket-table.ts'
import type { ListedGroups } from '../../../domain/stats/groups.ts'
import type { StatColumn } from '../../../domain/stats/metric-names.ts'
import { ApiError } from '../../../errors.ts'
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { CallMetric, UsageMetric } from '../../../schemas/stats/stats.ts'
import type { StatsGroupBy } from '../../../schemas/stats/stats-groups.ts'
import type { UsageCounting } from '../../../schemas/usage/usage-counting.ts'

/** What to compute, over which calls, in which buckets. Times in microseconds. */
export interface StatsQuery {
  readonly project_id: string
  readonly filter: CallsFilter
  /** Calls that started in [startUs, endUs). */
  readonly startUs: number
  readonly endUs: number
  /** Where the buckets begin: ascending, the first not after startUs, all before endUs. */
  readonly startsUs: Float64Array
  /** Empty: no metrics of calls. */
  readonly callColumns: readonly StatColumn<CallMetric>[]
  /** Empty: no metrics of usage. */
  readonly usageColumns: readonly StatColumn<UsageMetric>[]
  /** The project's own prices, as the store of prices lists them; none where no column is money. */
  readonly prices: readonly ProjectPrice[]
  readonly counting: UsageCounting
  /** Limit: values in all tables together. */
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
  /** Models with usage that has no price and no reported cost, sorted; empty when no cost was asked for. */
  readonly unpricedModels: readonly string[]
  /** Models without a price whose total cost is what clients report, sorted; empty when no cost was asked for. */
  readonly reportedModels: readonly string[]
}

/** The same in the format of the API: lists of buckets as JSON in UTF-8, each split into chunks. */
export interface StatsTexts {
  readonly callBuckets: readonly Uint8Array<ArrayBuffer>[]
  readonly usageBuckets: readonly Uint8Array<ArrayBuffer>[]
  readonly unpricedModels: readonly string[]
  readonly reportedModels: readonly string[]
}

/** What to compute by groups over the whole window, in no bucket. */
export interface GroupsQuery extends Omit<StatsQuery, 'startsUs' | 'valuesMax'> {
  readonly groupBy: StatsGroupBy
}

export type GroupsResult = ListedGroups & Pick<StatsResult, 'unpricedModels' | 'reportedModels'>

export interface StatsStore {
  /**
   * Returns the exact values of every bucket over all calls acknowledged before. Deleted calls and ends without
   * a start are excluded; a running call counts, without latency and usage. Costs use the prices at the start
   * of each call.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `granularity`) for more than valuesMax values,
   * server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  aggregate(query: StatsQuery, caller: ReadCaller): Promise<StatsResult>
  /**
   * The same, rendered. Concurrent callers with the same query may share one computation, which stops when the
   * last of them has left; it never begins before any of their requests.
   *
   * @throws what aggregate throws
   */
  render(query: StatsQuery, caller: ReadCaller): Promise<StatsTexts>
  /**
   * Returns the exact values of the first groups, and of all others together. A call counts as in `aggregate`, in each of
   * its groups; of usage, a group has the rows that count.
   *
   * @throws ApiError validation_failed (param `group_by`) for more than 100,000 groups, and what aggregate throws
   */
  group(query: GroupsQuery, caller: ReadCaller): Promise<GroupsResult>
}

const PARAM = 'granularity'

/** Returns the error of the contract (stats.ts) for more values than asked for. */
export function tooManyValues(): ApiError {
  const message =
    'granularity results in too many values: use longer buckets, fewer metrics or a filter'
  return new ApiError('validation_failed', { message, param: PARAM })
}

export function isTooManyValues(error: unknown): boolean {
  return error instanceof ApiError && error.param === PARAM
}
