/** Sums one hour for the tables of a query, reading as little of the hour as the query needs. Pure. */

import { type Counts, excludedCounts } from '../../../../domain/usage/own-usage.ts'
import type { ModelUsage, PricedModel } from '../../../../domain/usage/usage.ts'
import type { UsageCounting } from '../../../../schemas/usage/usage-counting.ts'
import { readServedKey } from '../../../base/stats/served-models.ts'
import type { HourParts, HourSums, KeyedSums, Runs, UsageRows } from '../../../base/stats/sums.ts'
import { type HourColumns, SLOTS, type UsageColumns } from './hour-columns.ts'
import {
  applyFilter,
  fitsGroups,
  groupParts,
  type HourFilter,
  isUnfiltered,
} from './hour-filter.ts'
import { isWhole, offsetParts, slotParts } from './hour-parts.ts'
import { latencyRuns, sumParts, toKeyed } from './hour-summary.ts'
import type { HourView } from './segment.ts'

/** The calls of a query, and the columns that it reads of them. */
interface HourWants {
  readonly wantsCalls: boolean
  readonly wantsUsage: boolean
  readonly wantsLatencies: boolean
  readonly counting: UsageCounting
}

/**
 * Reads what a query needs of an hour.
 *
 * @throws BrokenSegmentError, also from rowsOf
 */
export function sumHour(
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
  wants: HourWants,
): HourSums {
  const { columns } = view
  let assigned: Int16Array | null = null
  const partOf = () => {
    assigned ??= assignParts(view, parts, filter)
    return assigned
  }
  const found =
    readySums(view, parts, filter, wants) ??
    addUp(columns, partOf(), parts.bounds.length - 1, wants)
  const rowsOf = createUsageRows(columns, partOf, parts.hourUs, excludedCounts(wants.counting))
  return { ...found, rowsOf }
}

type FoundSums = Pick<HourSums, 'sums' | 'partOfKey' | 'runs'>

/** Returns the sums and runs that were built with the segment; null when the query needs others. */
function readySums(
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
  { wantsUsage, wantsLatencies, counting }: HourWants,
): FoundSums | null {
  if (isUnfiltered(filter)) {
    const partOfKey = slotParts(parts)
    const sums = partOfKey && view.slots(wantsUsage ? counting : 'own')
    if (!sums || !partOfKey) return null
    const readRuns = () => (isWhole(parts) ? wholeRuns(view.columns, sums) : view.slotRuns())
    return { sums, partOfKey, runs: wantsLatencies ? readRuns() : null }
  }
  if (!fitsGroups(filter) || !isWhole(parts)) return null
  if (wantsUsage && counting === 'own' && view.differs) return null
  const roots = filter.op ? null : view.roots()
  if (roots) return { ...roots, partOfKey: [0] }
  const groups = view.groups()
  if (!groups) return null
  const { sums } = groups
  return {
    sums,
    partOfKey: groupParts(filter, groups),
    runs: wantsLatencies ? groups.runs() : null,
  }
}

/** Returns all latencies of sorted columns as the run of the first key. */
function wholeRuns({ ended, latencies }: HourColumns, { callKeys }: KeyedSums): Runs {
  const first = callKeys[0] ?? 0
  const bounds = new Array<number>(SLOTS + 1).fill(ended).fill(0, 0, first + 1)
  return { values: latencies(), bounds }
}

/** Adds up the calls one by one. */
function addUp(
  columns: HourColumns,
  partOf: Int16Array,
  parts: number,
  { wantsCalls, wantsUsage, wantsLatencies, counting }: HourWants,
): FoundSums {
  const wanted = { calls: wantsCalls, usage: wantsUsage ? counting : null }
  const sums = toKeyed(sumParts(columns, partOf, parts, wanted))
  const runs = wantsLatencies ? latencyRuns(columns, partOf, parts) : null
  return { sums, partOfKey: Int16Array.from({ length: parts }, (_, part) => part), runs }
}

/** Returns the part of each entry that counts, -1 for the others. */
export function assignParts(
  { columns, removed }: Pick<HourView, 'columns' | 'removed'>,
  parts: HourParts,
  filter: HourFilter,
): Int16Array {
  const partOf = cutCalls(columns, parts)
  for (const place of removed) partOf[place] = -1
  applyFilter(filter, columns, partOf)
  return partOf
}

function cutCalls(columns: HourColumns, parts: HourParts): Int16Array {
  if (isWhole(parts)) return new Int16Array(columns.count)
  const bySlot = slotParts(parts)
  if (!bySlot) return offsetParts(parts, columns.offsets())
  const slots = columns.slots()
  const partOf = new Int16Array(slots.length)
  for (let call = 0; call < slots.length; call++)
    partOf[call] = bySlot[slots[call] as number] as number
  return partOf
}

/** Returns a reader of the usage of each part, row by row; its first call sorts the rows by part. */
function createUsageRows(
  columns: HourColumns,
  partOf: () => Int16Array,
  hourUs: number,
  skipped: Counts,
): UsageRows {
  let byPart: Map<number, number[]> | null = null

  return (part, models, add) => {
    const used = columns.usage()
    const offsets = columns.offsets()
    byPart ??= groupRows(used, partOf(), skipped)
    for (const row of byPart.get(part) ?? []) {
      const served = used.models[used.modelIds[row] as number] as string
      if (!models.has(served)) continue
      const usage = { ...readServedKey(served), ...readCounters(used, row) }
      add(usage, hourUs + (offsets[used.calls[row] ?? 0] ?? 0))
    }
  }
}

function groupRows(
  { rows, calls, counts }: UsageColumns,
  partOf: Int16Array,
  skipped: Counts,
): Map<number, number[]> {
  const byPart = new Map<number, number[]>()
  for (let row = 0; row < rows; row++) {
    if (counts[row] === skipped) continue
    const part = partOf[calls[row] as number] as number
    const known = byPart.get(part)
    if (known) known.push(row)
    else byPart.set(part, [row])
  }
  return byPart
}

/** Returns the counters of a row of usage. */
export function readCounters(
  { counters }: UsageColumns,
  row: number,
): Omit<ModelUsage, keyof PricedModel> {
  const count = (index: number) => counters[index]?.[row] ?? 0
  // In the order of COUNTERS.
  return {
    input_tokens: count(0),
    output_tokens: count(1),
    total_tokens: count(2),
    cache_read_input_tokens: count(3),
    cache_creation_input_tokens: count(4),
    uncached_input_tokens: count(5),
    input_audio_tokens: count(6),
    input_image_tokens: count(7),
    cache_read_audio_tokens: count(8),
    cache_creation_1h_input_tokens: count(9),
    reasoning_tokens: count(10),
    output_audio_tokens: count(11),
    output_image_tokens: count(12),
    reported_cost_microcents: count(13),
  }
}
