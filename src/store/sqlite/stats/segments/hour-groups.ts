/** Sums one hour by groups of its calls, reading as little of the hour as the groups need. Pure. */
import { excludedCounts } from '../../../../domain/usage/own-usage.ts'
import type { ModelUsage } from '../../../../domain/usage/usage.ts'
import type { StatsGroupField } from '../../../../schemas/stats/stats-groups.ts'
import type { UsageCounting } from '../../../../schemas/usage/usage-counting.ts'
import {
  ERROR,
  RUNNING,
  STATUSES,
  SUCCESS,
  settleStatuses,
} from '../../../base/stats/group-status.ts'
import { readServedKey } from '../../../base/stats/served-models.ts'
import {
  CALL_NUMBERS,
  emptyCalls,
  type HourParts,
  type Integers,
  USAGE_NUMBERS,
} from '../../../base/stats/sums.ts'
import {
  type HourColumns,
  IS_ENDED,
  IS_ERROR,
  IS_STARTED,
  type NamesColumn,
} from './hour-columns.ts'
import { fitsGroups, groupParts, type HourFilter } from './hour-filter.ts'
import { isWhole } from './hour-parts.ts'
import { assignParts, readCounters } from './hour-stats.ts'
import { addEntry, gather, type PartOf, sumCalls, sumRows } from './hour-summary.ts'
import type { HourView } from './segment.ts'

/** Up to so many pairs of group and model, the pairs of an hour are found in an array, at 4 bytes each. */
const PAIR_TABLE_MAX = 2 ** 20

const COLUMNS: Readonly<Partial<Record<StatsGroupField, NamesColumn>>> = {
  op_name: 'op',
  svc_user_id: 'user',
  end_user_id: 'endUser',
}

/** What a query reads of an hour. */
export interface GroupWants {
  readonly field: StatsGroupField
  readonly times: boolean
  readonly wantsUsage: boolean
  readonly counting: UsageCounting
}

/** The sums of an hour by group; a group may have several rows of calls, and several pairs with a model. */
export interface HourGroups {
  readonly names: readonly (string | null)[]
  /** The index in `names` of each row of CALL_NUMBERS. */
  readonly callGroups: ArrayLike<number>
  readonly calls: Float64Array
  readonly usage: GroupedUsage | null
  /** The first and last start by index in `names`, in microseconds; null when not requested. */
  readonly times: { readonly firstUs: Float64Array; readonly lastUs: Float64Array } | null
}

/** The usage of an hour by pairs of group and model. */
export interface GroupedUsage {
  /** As servedKey names them. */
  readonly models: readonly string[]
  /** The index in `names` of the group of each pair, and in `models` of its model. */
  readonly groups: ArrayLike<number>
  readonly modelIds: ArrayLike<number>
  /** USAGE_NUMBERS of each pair. */
  readonly sums: Float64Array
  /** Reads the rows of some pairs; null for sums that were built with the segment. */
  readonly readRows: ((pairs: ReadonlySet<number>, add: AddPairRow) => void) | null
}

type AddPairRow = (pair: number, row: ModelUsage, startedAtUs: number) => void

/** Returns the sums by op that were built with the segment; null when the query needs others. @throws BrokenSegmentError */
export function readyGroups(
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
  { field, times, wantsUsage, counting }: GroupWants,
): HourGroups | null {
  if (field !== 'op_name' || times || !isWhole(parts) || !fitsGroups(filter)) return null
  if (wantsUsage && counting === 'own' && view.differs) return null
  const groups = view.groups()
  if (!groups) return null
  const { names, sums } = groups
  const partOf = groupParts(filter, groups)
  const rowsOf = (keys: Integers) =>
    Array.from(keys.keys()).filter((row) => partOf[keys[row] as number] === 0)
  // Roots and other calls of an op have a key each.
  const opOf = (key: number | undefined) => (key as number) >> 1
  const callRows = rowsOf(sums.callKeys)
  const pairs = rowsOf(sums.usageKeys)
  return {
    names,
    callGroups: callRows.map((row) => opOf(sums.callKeys[row])),
    calls: gather(sums.calls, callRows, CALL_NUMBERS),
    usage: wantsUsage
      ? {
          models: sums.models,
          groups: pairs.map((row) => opOf(sums.usageKeys[row])),
          modelIds: pairs.map((row) => sums.usageModels[row] as number),
          sums: gather(sums.usage, pairs, USAGE_NUMBERS),
          readRows: null,
        }
      : null,
    times: null,
  }
}

/** Adds up the calls of an hour one by one. @throws BrokenSegmentError, also from readRows */
export function groupHour(
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
  wants: GroupWants,
): HourGroups {
  const { columns } = view
  const { field } = wants
  const partOf = assignParts(view, parts, filter)
  if (field === 'model' || field === 'provider') {
    return groupByUsage(columns, partOf, parts.hourUs, { ...wants, field })
  }
  const column = COLUMNS[field]
  const { names, groupOf } = column ? byName(columns, column, partOf) : byStatus(columns, partOf)
  const calls = emptyCalls(names.length)
  sumCalls(calls, groupOf, columns)
  if (field === 'status') settleStatuses(calls)
  const groups = names.length
  const ofRow = (call: number) => groupOf[call] as number
  return {
    names,
    callGroups: Int32Array.from(names.keys()),
    calls,
    usage: wants.wantsUsage ? sumPairs(columns, parts.hourUs, wants, groups, ofRow) : null,
    times: wants.times ? rangeTimes(columns, groupOf, groups, parts.hourUs) : null,
  }
}

interface GroupedCalls {
  readonly names: readonly (string | null)[]
  /** The index in `names` of the group of each entry, -1 for none. */
  readonly groupOf: PartOf
}

function byName(columns: HourColumns, column: NamesColumn, partOf: Int16Array): GroupedCalls {
  const { names, ids } = columns.names(column)
  const groupOf = names.length < 2 ** 15 ? new Int16Array(ids.length) : new Int32Array(ids.length)
  for (let call = 0; call < ids.length; call++) {
    groupOf[call] = (partOf[call] as number) < 0 ? -1 : (ids[call] as number)
  }
  return { names, groupOf }
}

function byStatus(columns: HourColumns, partOf: Int16Array): GroupedCalls {
  const flags = columns.flags()
  const groupOf = partOf.map((part, call) => {
    if (part < 0) return -1
    const flag = flags[call] as number
    if ((flag & IS_ENDED) === 0) return RUNNING
    return (flag & IS_ERROR) === 0 ? SUCCESS : ERROR
  })
  return { names: STATUSES, groupOf }
}

/** Groups calls by what their usage names. */
function groupByUsage(
  columns: HourColumns,
  partOf: Int16Array,
  hourUs: number,
  wants: GroupWants & { readonly field: 'model' | 'provider' },
): HourGroups {
  const used = columns.usage()
  const skipped = excludedCounts(wants.counting)
  const named = used.models.map((served) => readServedKey(served)[wants.field])
  // The last group is that of calls without usage.
  const names = [...new Set(named), null]
  const groupOfModel = named.map((name) => names.indexOf(name))
  const without = names.length - 1
  const flags = columns.flags()
  const latencies = columns.latencies()
  const calls = emptyCalls(names.length)
  const lastOf = new Int32Array(names.length).fill(-1)
  const hasUsage = new Uint8Array(columns.count)
  for (let row = 0; row < used.rows; row++) {
    const call = used.calls[row] as number
    if ((partOf[call] as number) < 0 || used.counts[row] === skipped) continue
    const group = groupOfModel[used.modelIds[row] as number] as number
    // The rows of a call follow each other.
    if (lastOf[group] === call) continue
    lastOf[group] = call
    hasUsage[call] = 1
    addEntry(calls, group, (flags[call] as number) | IS_STARTED, latencies[call] as number)
  }
  const at = without * CALL_NUMBERS
  for (let call = 0; call < partOf.length; call++) {
    if ((partOf[call] as number) < 0) continue
    const flag = flags[call] as number
    if (hasUsage[call] === 0) addEntry(calls, without, flag, latencies[call] as number)
    // Usage comes with the end of a call, which another entry may have counted.
    else if ((flag & IS_STARTED) === 0) calls[at] = (calls[at] as number) - 1
  }
  const ofRow = (call: number, model: number) =>
    (partOf[call] as number) < 0 ? -1 : (groupOfModel[model] as number)
  return {
    names,
    callGroups: Int32Array.from(names.keys()),
    calls,
    usage: wants.wantsUsage ? sumPairs(columns, hourUs, wants, names.length, ofRow) : null,
    times: null,
  }
}

/**
 * Adds up usage by pairs of group and model.
 *
 * @param groupOf - the group of a row, by its call and model; -1 for none
 */
function sumPairs(
  columns: HourColumns,
  hourUs: number,
  { counting }: GroupWants,
  groups: number,
  groupOf: (call: number, model: number) => number,
): GroupedUsage {
  const used = columns.usage()
  const { rows, calls, models, modelIds, counts } = used
  const skipped = excludedCounts(counting)
  const pairOf = createPairs(groups * models.length)
  const chosen = new Uint32Array(rows)
  const slotOf = new Uint32Array(rows)
  const keys: number[] = []
  let count = 0
  for (let row = 0; row < rows; row++) {
    if (counts[row] === skipped) continue
    const model = modelIds[row] as number
    const group = groupOf(calls[row] as number, model)
    if (group < 0) continue
    const key = group * models.length + model
    const pair = pairOf(key, keys.length)
    if (pair === keys.length) keys.push(key)
    chosen[count] = row
    slotOf[count] = pair * USAGE_NUMBERS
    count += 1
  }
  const counted = chosen.subarray(0, count)
  const sums = new Float64Array(keys.length * USAGE_NUMBERS)
  sumRows(sums, used, counted, slotOf)
  return {
    models,
    groups: keys.map((key) => Math.floor(key / models.length)),
    modelIds: keys.map((key) => key % models.length),
    sums,
    readRows(pairs, add) {
      const offsets = columns.offsets()
      counted.forEach((row, index) => {
        const pair = (slotOf[index] as number) / USAGE_NUMBERS
        if (!pairs.has(pair)) return
        const served = models[modelIds[row] as number] as string
        const usage = { ...readServedKey(served), ...readCounters(used, row) }
        add(pair, usage, hourUs + (offsets[calls[row] as number] as number))
      })
    },
  }
}

/** Returns a function that returns the index of a key, which is `next` for one that it has not seen. */
function createPairs(keys: number): (key: number, next: number) => number {
  if (keys <= PAIR_TABLE_MAX) {
    const table = new Int32Array(keys).fill(-1)
    return (key, next) => {
      if (table[key] === -1) table[key] = next
      return table[key] as number
    }
  }
  const pairs = new Map<number, number>()
  return (key, next) => {
    const known = pairs.get(key)
    if (known !== undefined) return known
    pairs.set(key, next)
    return next
  }
}

function rangeTimes(columns: HourColumns, groupOf: PartOf, groups: number, hourUs: number) {
  const offsets = columns.offsets()
  const firstUs = new Float64Array(groups).fill(Number.POSITIVE_INFINITY)
  const lastUs = new Float64Array(groups).fill(Number.NEGATIVE_INFINITY)
  for (let call = 0; call < groupOf.length; call++) {
    const group = groupOf[call] as number
    if (group < 0) continue
    const us = hourUs + (offsets[call] as number)
    if (us < (firstUs[group] as number)) firstUs[group] = us
    if (us > (lastUs[group] as number)) lastUs[group] = us
  }
  return { firstUs, lastUs }
}
