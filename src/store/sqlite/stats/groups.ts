/** Statistics by groups of calls in SQLite: from the segments of hours and the changes since, or from the rows. */

import { layerPrices } from '../../../domain/prices/project-prices.ts'
import type { GroupsQuery, GroupsResult } from '../../api/stats/stats.ts'
import { createGroupTables, type GroupTables } from '../../base/stats/group-tables.ts'
import type { SteadyPrices } from '../../base/stats/served-prices.ts'
import { CALL_NUMBERS, type HourParts, INPUT_MAX, USAGE_NUMBERS } from '../../base/stats/sums.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import {
  type GroupedUsage,
  type GroupWants,
  groupHour,
  type HourGroups,
  readyGroups,
} from './segments/hour-groups.ts'
import { type HourSink, readHours } from './stats-hours.ts'
import { createGroupRows, createRowScan } from './stats-rows.ts'

/** The sums of a segment, and a way to add up its calls one by one where those were built with it. */
interface Grouped {
  readonly sums: HourGroups
  readonly addUp: () => HourGroups
}

/** The read job of `group`. @throws ApiError validation_failed */
export function* groupStats(
  db: Connection,
  query: GroupsQuery,
  checkpoint: Checkpoint,
): Generator<void, { readonly result: GroupsResult; readonly broken: readonly number[] }> {
  const { project_id, filter, startUs, groupBy, counting } = query
  const clause = toFilterClause(db, project_id, filter)
  const wants: GroupWants = {
    field: groupBy.field,
    times: groupBy.times,
    wantsUsage: query.usageColumns.length > 0,
    counting,
  }
  const window = { ...query, startsUs: Float64Array.of(startUs) }
  return yield* readHours(db, window, checkpoint, (): HourSink<Grouped[], GroupsResult> => {
    const tables = createGroupTables({ ...query, prices: layerPrices(query.prices) })
    return {
      // Segments have no exceptions.
      needsRows: groupBy.field === 'error_type',
      holdsBuckets: false,
      sum: (views, parts, hourFilter) =>
        views.map((view) => {
          const addUp = () => groupHour(view, parts, hourFilter, wants)
          return { sums: readyGroups(view, parts, hourFilter, wants) ?? addUp(), addUp }
        }),
      add: (segments, parts) => {
        for (const segment of segments) addSegment(tables, segment, parts)
      },
      leaveBuckets: () => undefined,
      scanRows: createRowScan(db, clause, checkpoint, createGroupRows(db, clause, query, tables)),
      finish: tables.finish,
    }
  })
}

/** @throws BrokenSegmentError when the columns are needed; the tables may then hold a part of the segment */
function addSegment(tables: GroupTables, { sums, addUp }: Grouped, parts: HourParts): void {
  const { names, callGroups, calls, usage, times } = sums
  const priced = usage && priceSums(tables, usage, parts)
  if (priced && priced.unfit.size > 0 && usage?.readRows === null) {
    addSegment(tables, { sums: addUp(), addUp }, parts)
    return
  }
  const groups: number[] = []
  // Names of calls that the filter excludes open no group.
  const indexOf = (name: number) => {
    const group = groups[name] ?? tables.indexOf(names[name] ?? null)
    groups[name] = group
    return group
  }
  for (let row = 0; row < callGroups.length; row++) {
    const at = row * CALL_NUMBERS
    if (calls[at] === 0 && calls[at + 1] === 0) continue
    const group = indexOf(callGroups[row] as number)
    if (group >= 0) tables.addCalls(group, calls, at)
  }
  times?.firstUs.forEach((firstUs, name) => {
    if (!Number.isFinite(firstUs)) return
    const group = indexOf(name)
    if (group >= 0) tables.addTimes(group, firstUs, times.lastUs[name] as number)
  })
  if (priced && usage)
    addUsage(tables, usage, priced, (pair) => indexOf(usage.groups[pair] as number))
}

/** Prices of the models of an hour, by their index. */
interface PricedSums {
  readonly prices: readonly (SteadyPrices | null | undefined)[]
  /** Pairs whose rows are needed. */
  readonly unfit: ReadonlySet<number>
}

function priceSums(
  tables: GroupTables,
  { models, modelIds, sums }: GroupedUsage,
  { hourUs, bounds }: HourParts,
): PricedSums {
  const [fromUs, toUs] = [hourUs + (bounds[0] as number), hourUs + (bounds.at(-1) as number)]
  const prices: (SteadyPrices | null | undefined)[] = []
  const unfit = new Set<number>()
  for (let pair = 0; pair < modelIds.length; pair++) {
    const model = modelIds[pair] as number
    if (prices[model] === undefined) {
      prices[model] = tables.steadyIn(models[model] as string, fromUs, toUs)
    }
    const inputMax = prices[model]?.inputMax ?? -1
    if ((sums[pair * USAGE_NUMBERS + INPUT_MAX] as number) > inputMax) unfit.add(pair)
  }
  return { prices, unfit }
}

function addUsage(
  tables: GroupTables,
  { modelIds, sums, readRows }: GroupedUsage,
  { prices, unfit }: PricedSums,
  indexOf: (pair: number) => number,
): void {
  for (let pair = 0; pair < modelIds.length; pair++) {
    const group = indexOf(pair)
    if (group < 0 || unfit.has(pair)) continue
    const numbers = sums.subarray(pair * USAGE_NUMBERS, (pair + 1) * USAGE_NUMBERS)
    tables.addUsageSums(group, numbers, prices[modelIds[pair] as number]?.prices ?? null)
  }
  if (unfit.size === 0) return
  readRows?.(unfit, (pair, row, startedAtUs) => {
    const group = indexOf(pair)
    if (group >= 0) tables.addUsage(group, row, startedAtUs)
  })
}
