/** The sums of groups of calls, filled in any order from rows or from sums of parts of hours. Pure. */
import { latencyMs } from '../../../domain/calls/call-view.ts'
import type { Pricing } from '../../../domain/prices/cost.ts'
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { createBucketTable } from '../../../domain/stats/bucket-table.ts'
import { addToSum, createSum, type ExactSum } from '../../../domain/stats/exact-sum.ts'
import {
  createSearch,
  GROUPS_MAX,
  type GroupValues,
  type ListedGroups,
  sortGroups,
} from '../../../domain/stats/groups.ts'
import { isMoney, type StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import { refuseField } from '../../../errors.ts'
import type { CallMetric, UsageMetric } from '../../../schemas/stats/stats.ts'
import type { GroupsQuery, GroupsResult } from '../../api/stats/stats.ts'
import { addCallNumbers, createCallTable } from './call-sums.ts'
import { createServedPrices } from './served-prices.ts'
import { CALL_NUMBERS, emptyCalls } from './sums.ts'
import { createUsageMeasures } from './usage-sums.ts'

/** The usage of one group: its number of rows, and a sum for each metric. */
interface GroupUsage {
  rows: number
  readonly sums: readonly ExactSum[]
}

export type GroupTables = ReturnType<typeof createGroupTables>

type GroupTablesOptions = Pick<GroupsQuery, 'groupBy' | 'callColumns' | 'usageColumns'> & {
  readonly prices: PriceTable
}

/** Creates the tables. Indexes of groups are those that `indexOf` returns. */
export function createGroupTables(options: GroupTablesOptions) {
  const { groupBy, usageColumns } = options
  const matches = createSearch(groupBy.search)
  const metrics = [...new Set(usageColumns.map(({ metric }) => metric))]
  const measures = createUsageMeasures(metrics)
  const served = createServedPrices(options.prices, metrics.some(isMoney))
  const indexes = new Map<string | null, number>()
  const numbers = createCallNumbers()
  const usages: GroupUsage[] = []
  const times = createTimes()

  return {
    /**
     * Returns the index of a group; -1 for one that the search does not match.
     *
     * @throws ApiError validation_failed for too many groups
     */
    indexOf(name: string | null): number {
      const known = indexes.get(name)
      if (known !== undefined) return known
      if (!matches(name)) return -1
      if (indexes.size === GROUPS_MAX) {
        refuseField(
          'group_by',
          `gives more than ${GROUPS_MAX} groups; shorten the window, filter or search`,
        )
      }
      const index = indexes.size
      indexes.set(name, index)
      numbers.open()
      usages.push({ rows: 0, sums: metrics.map(createSum) })
      return index
    },
    /** Adds the CALL_NUMBERS that start at `at`. */
    addCalls: numbers.add,
    addCall(group: number, startedAtUs: number, endedAtUs: number | null, isError: boolean): void {
      const ms = endedAtUs === null ? null : latencyMs(startedAtUs, endedAtUs)
      numbers.add(group, toCallNumbers(ms, isError), 0)
      times.add(group, startedAtUs, startedAtUs)
    },
    /** Adds times at which calls of a group started. */
    addTimes: times.add,
    /** Returns the prices of a model in [fromUs, toUs); null when they change, so that rows are needed. */
    steadyIn: served.steadyIn,
    /** Adds calls, none of which reaches a tier of these prices, by their USAGE_NUMBERS. */
    addUsageSums(group: number, sums: Float64Array, prices: Pricing | null): void {
      const usage = usages[group] as GroupUsage
      const rows = sums[0] as number
      usage.rows += rows
      measures.ofSums(sums, prices, (metric, sum) => {
        addToSum(usage.sums[metric] as ExactSum, sum, rows)
      })
    },
    addUsage(group: number, row: ModelUsage, startedAtUs: number): void {
      const usage = usages[group] as GroupUsage
      usage.rows += 1
      measures.ofRow(row, served.ofRow(row, startedAtUs), (metric, value) => {
        addToSum(usage.sums[metric] as ExactSum, value)
      })
    },
    /** Returns the result; call it after all rows and hours. */
    finish(): GroupsResult {
      const sums = { names: [...indexes.keys()], calls: numbers.values(), usages, times }
      return { ...listGroups(options, sums), ...served.pricing() }
    },
  }
}

/** The sums of all groups, by their index. */
interface GroupSums {
  readonly names: readonly (string | null)[]
  /** CALL_NUMBERS of each. */
  readonly calls: Float64Array
  readonly usages: readonly GroupUsage[]
  readonly times: ReturnType<typeof createTimes>
}

function listGroups(options: GroupTablesOptions, sums: GroupSums): ListedGroups {
  const { names, times } = sums
  const { groupBy, callColumns, usageColumns } = options
  const calls = tableOfCalls(callColumns, sums.calls, names.length)
  const usage = tableOfUsage(usageColumns, sums.usages)
  const columns = [...calls.values, ...usage.values]
  const counted = [...names.keys()].filter((group) => calls.count[group] !== 0)
  const { field, direction } = groupBy.sort_by
  const column = [...callColumns, ...usageColumns].findIndex(({ key }) => key === field)
  const others: Readonly<Record<string, ArrayLike<number>>> = {
    count: calls.count,
    first_started_at: times.first,
    last_started_at: times.last,
  }
  const sortValues = columns[column] ?? others[field] ?? null
  const sorted = sortGroups(counted, names, sortValues, direction)
  const timesOf = (groups: readonly number[]) =>
    groupBy.times ? rangeOf(times, groups) : { firstUs: null, lastUs: null }
  const rest = sorted.slice(groupBy.limit)
  return {
    groups: sorted.slice(0, groupBy.limit).map((group) => ({
      group: names[group] ?? null,
      count: calls.count[group] as number,
      values: columns.map((values) => values[group] as number),
      ...timesOf([group]),
    })),
    others:
      rest.length === 0
        ? null
        : { groups: rest.length, ...sumUp(options, sums, rest), ...timesOf(rest) },
  }
}

/** Returns the values of several groups together. */
function sumUp(
  { callColumns, usageColumns }: GroupTablesOptions,
  sums: GroupSums,
  groups: readonly number[],
): Pick<GroupValues, 'count' | 'values'> {
  const all = emptyCalls(1)
  const total: GroupUsage = { rows: 0, sums: sums.usages[0]?.sums.map(createSum) ?? [] }
  for (const group of groups) {
    addCallNumbers(all, sums.calls, group * CALL_NUMBERS, 0)
    const usage = sums.usages[group] as GroupUsage
    total.rows += usage.rows
    usage.sums.forEach(({ count, low, high }, metric) => {
      const sum = total.sums[metric] as ExactSum
      addToSum(sum, low, count)
      addToSum(sum, high, 0)
    })
  }
  const calls = tableOfCalls(callColumns, all, 1)
  const usage = tableOfUsage(usageColumns, [total])
  const values = [...calls.values, ...usage.values].map((column) => column[0] as number)
  return { count: calls.count[0] as number, values }
}

/** The CALL_NUMBERS of one call. @param ms - its latency; null while it runs */
function toCallNumbers(ms: number | null, isError: boolean): Float64Array {
  const numbers = emptyCalls(1)
  numbers[0] = 1
  if (ms !== null)
    numbers.set([1, isError ? 1 : 0, ms, ms, ms, ms === 1 ? 1 : 0, ms === 0 ? 1 : 0], 1)
  return numbers
}

/** Groups are the buckets of the table. */
function tableOfCalls(
  callColumns: readonly StatColumn<CallMetric>[],
  numbers: Float64Array,
  groups: number,
) {
  const starts = Float64Array.from({ length: groups }, (_, group) => group)
  const table = createCallTable(starts, callColumns)
  for (let group = 0; group < groups; group++) table.addSums(group, numbers, group * CALL_NUMBERS)
  if (groups > 0) table.end()
  return table.table
}

function tableOfUsage(columns: readonly StatColumn<UsageMetric>[], groups: readonly GroupUsage[]) {
  const builder = createBucketTable(columns, groups.length, isMoney)
  groups.forEach(({ rows, sums }, group) => {
    builder.countRows(rows)
    sums.forEach(({ count, low, high }, metric) => {
      builder.addSum(metric, count, low)
      builder.addSum(metric, 0, high)
    })
    builder.flush(group)
  })
  return builder.table
}

/** CALL_NUMBERS of groups. */
function createCallNumbers() {
  let numbers = emptyCalls(64)
  let groups = 0
  return {
    open(): void {
      groups += 1
      if (groups * CALL_NUMBERS <= numbers.length) return
      const larger = emptyCalls(groups * 2)
      larger.set(numbers)
      numbers = larger
    },
    add(group: number, more: Float64Array, at: number): void {
      addCallNumbers(numbers, more, at, group * CALL_NUMBERS)
    },
    values: () => numbers,
  }
}

/** The first and last start of calls of groups, in microseconds. */
function createTimes() {
  const first: number[] = []
  const last: number[] = []
  return {
    first,
    last,
    add(group: number, firstUs: number, lastUs: number): void {
      first[group] = Math.min(first[group] ?? firstUs, firstUs)
      last[group] = Math.max(last[group] ?? lastUs, lastUs)
    },
  }
}

function rangeOf(
  { first, last }: Pick<GroupSums['times'], 'first' | 'last'>,
  groups: readonly number[],
): Pick<GroupValues, 'firstUs' | 'lastUs'> {
  const range = { firstUs: Number.POSITIVE_INFINITY, lastUs: Number.NEGATIVE_INFINITY }
  for (const group of groups) {
    range.firstUs = Math.min(range.firstUs, first[group] as number)
    range.lastUs = Math.max(range.lastUs, last[group] as number)
  }
  return range
}
