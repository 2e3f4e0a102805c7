/** Adds one hour to the tables of a question, made from as little of the hour as the question needs. Pure. */
import { COUNTERS, type HourColumns, type Integers, type UsageColumns } from './hour-columns.ts'
import {
  applyFilter,
  fitsGroups,
  groupParts,
  type HourFilter,
  isUnfiltered,
} from './hour-filter.ts'
import { type HourParts, isWhole, offsetParts, slotParts } from './hour-parts.ts'
import { type KeyedSums, latencyRuns, mergeKeyed, type PartSums, sumParts } from './hour-summary.ts'
import type { OpGroups, Runs } from './segment.ts'
import type { StatsTables } from './stats-tables.ts'
import type { ModelUsage } from './usage.ts'

/** More short runs than these take longer to rank than to make one of them. */
const RUNS_MAX = 32

/** An hour, with the sums that are ready. */
export interface HourView {
  readonly columns: HourColumns
  /** Sums by slot, or null. */
  readonly slots: KeyedSums | null
  /** Latencies by slot, where there are sums by slot. */
  slotRuns(): Runs
  /** Sums by op and root, or null. */
  groups(): OpGroups | null
}

/**
 * Reads what the question needs of an hour.
 *
 * @returns adds it to the tables; when that throws BrokenSegmentError, the tables are of no use any more
 * @throws BrokenSegmentError; the tables are then as they were
 */
export function prepareHour(
  tables: StatsTables,
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
): () => void {
  const { columns } = view
  const partCount = parts.bounds.length - 1
  let assigned: Int16Array | null = null
  const partOf = () => {
    assigned ??= assignParts(columns, parts, filter)
    return assigned
  }
  const sums =
    readySums(view, parts, filter) ??
    sumParts(columns, partOf(), partCount, { calls: tables.wantsCalls, usage: tables.wantsUsage })
  const runs = tables.wantsLatencies ? findRuns(view, parts, filter, partOf) : null
  return () => tables.addParts(parts, sums, runs, createUsageRows(columns, partOf, parts.hourUs))
}

/** The sums that were made when the segment was built, where they lie in the question's parts. */
function readySums(view: HourView, parts: HourParts, filter: HourFilter): PartSums | null {
  if (isUnfiltered(filter)) {
    const slots = view.slots && slotParts(parts)
    return view.slots && slots && mergeKeyed(view.slots, slots, parts.bounds.length - 1)
  }
  if (!fitsGroups(filter) || !isWhole(parts)) return null
  const groups = view.groups()
  return groups && mergeKeyed(groups.sums, groupParts(filter, groups), 1)
}

/** Latencies of each part, in one run or in a few. */
function findRuns(
  view: HourView,
  parts: HourParts,
  filter: HourFilter,
  partOf: () => Int16Array,
): Integers[][] {
  const { columns } = view
  const ready = readyRuns(view, parts, filter)
  return ready ?? latencyRuns(columns, partOf(), parts.bounds.length - 1).map((run) => [run])
}

/** The runs that were made when the segment was built; null where the question asks for other ones. */
function readyRuns(view: HourView, parts: HourParts, filter: HourFilter): Integers[][] | null {
  const { columns } = view
  if (isUnfiltered(filter)) {
    if (columns.isSorted && isWhole(parts)) {
      return [[columns.latencies().subarray(0, columns.ended)]]
    }
    const slots = view.slots && slotParts(parts)
    return slots && gatherRuns(view.slotRuns(), slots, parts.bounds.length - 1)
  }
  if (!fitsGroups(filter) || !isWhole(parts)) return null
  const groups = view.groups()
  return groups && gatherRuns(groups.runs(), groupParts(filter, groups), 1)
}

/** null where a part would have too many. */
function gatherRuns(
  { values, bounds }: Runs,
  partOfRun: ArrayLike<number>,
  parts: number,
): Integers[][] | null {
  const gathered = Array.from({ length: parts }, (): Integers[] => [])
  for (let index = 0; index < partOfRun.length; index++) {
    const [from, to] = [bounds[index] as number, bounds[index + 1] as number]
    if (from === to) continue
    const runs = gathered[partOfRun[index] as number]
    if (runs?.length === RUNS_MAX) return null
    runs?.push(values.subarray(from, to))
  }
  return gathered
}

/** The part of each call that counts, -1 for the others. */
function assignParts(columns: HourColumns, parts: HourParts, filter: HourFilter): Int16Array {
  const partOf = cutCalls(columns, parts)
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

/** The usage of each part, row by row; sorted into parts when it is first asked for. */
function createUsageRows(columns: HourColumns, partOf: () => Int16Array, hourUs: number) {
  let byPart: Map<number, number[]> | null = null

  return function addRows(
    part: number,
    models: ReadonlySet<string>,
    add: (row: ModelUsage, startedAtUs: number) => void,
  ): void {
    const used = columns.usage()
    const offsets = columns.offsets()
    byPart ??= groupRows(used, partOf())
    for (const row of byPart.get(part) ?? []) {
      const usage = readUsageRow(used, row)
      if (models.has(usage.model)) add(usage, hourUs + (offsets[used.calls[row] ?? 0] ?? 0))
    }
  }
}

function groupRows({ rows, calls }: UsageColumns, partOf: Int16Array): Map<number, number[]> {
  const byPart = new Map<number, number[]>()
  for (let row = 0; row < rows; row++) {
    const part = partOf[calls[row] as number] as number
    const known = byPart.get(part)
    if (known) known.push(row)
    else byPart.set(part, [row])
  }
  return byPart
}

function readUsageRow({ models, modelIds, counters }: UsageColumns, row: number): ModelUsage {
  const counter = (name: (typeof COUNTERS)[number]) => counters[COUNTERS.indexOf(name)]?.[row] ?? 0
  return {
    model: models[modelIds[row] as number] as string,
    input_tokens: counter('input_tokens'),
    output_tokens: counter('output_tokens'),
    total_tokens: counter('total_tokens'),
    cache_read_input_tokens: counter('cache_read_input_tokens'),
    cache_creation_input_tokens: counter('cache_creation_input_tokens'),
    uncached_input_tokens: counter('uncached_input_tokens'),
  }
}
