/** Sums over the calls of an hour, by part, from which most statistics are computed. Pure. */
import { type Counts, excludedCounts } from '../../../../domain/usage/own-usage.ts'
import type { UsageCounting } from '../../../../schemas/usage/usage-counting.ts'
import {
  CALL_NUMBERS,
  emptyCalls,
  INPUT_MAX,
  type Integers,
  type KeyedSums,
  type Runs,
  USAGE_NUMBERS,
} from '../../../base/stats/sums.ts'
import {
  type HourColumns,
  IS_ENDED,
  IS_ERROR,
  IS_STARTED,
  type UsageColumns,
} from './hour-columns.ts'

/** Up to this many parts are picked in one pass each. */
const PASSES_MAX = 4
const [CACHE_READ, CACHE_CREATION, UNCACHED] = [3, 4, 5]

/** Sums by part, and for usage also by model. */
interface PartSums {
  readonly parts: number
  /** CALL_NUMBERS for each part. */
  readonly calls: Float64Array
  readonly models: readonly string[]
  /** USAGE_NUMBERS for each part and model. */
  readonly usage: Float64Array
}

/**
 * Adds up an hour.
 *
 * @param partOf - the part of each call, -1 for none
 * @param wants - what to add up, and how to count usage; the rest stays empty
 */
export function sumParts(
  columns: HourColumns,
  partOf: Int16Array,
  parts: number,
  wants: { readonly calls: boolean; readonly usage: UsageCounting | null },
): PartSums {
  const calls = emptyCalls(wants.calls ? parts : 0)
  if (wants.calls) sumCalls(calls, partOf, columns)
  if (wants.usage === null) return { parts, calls, models: [], usage: new Float64Array() }
  const used = columns.usage()
  const usage = new Float64Array(parts * used.models.length * USAGE_NUMBERS)
  sumUsage(usage, partOf, used, excludedCounts(wants.usage))
  return { parts, calls, models: used.models, usage }
}

/** The part of each entry, -1 for none; of 32 bits where there are more parts than fit into 16. */
export type PartOf = Int16Array | Int32Array

/** Adds calls to the CALL_NUMBERS of their parts. */
export function sumCalls(sums: Float64Array, partOf: PartOf, columns: HourColumns): void {
  const flags = columns.flags()
  const latencies = columns.latencies()
  for (let call = 0; call < partOf.length; call++) {
    const part = partOf[call] as number
    if (part >= 0) addEntry(sums, part, flags[call] as number, latencies[call] as number)
  }
}

/** Adds an entry to the CALL_NUMBERS of a part. */
export function addEntry(sums: Float64Array, part: number, flags: number, latency: number): void {
  const at = part * CALL_NUMBERS
  if ((flags & IS_STARTED) !== 0) sums[at] = (sums[at] as number) + 1
  if ((flags & IS_ENDED) === 0) return
  sums[at + 1] = (sums[at + 1] as number) + 1
  if ((flags & IS_ERROR) !== 0) sums[at + 2] = (sums[at + 2] as number) + 1
  sums[at + 3] = (sums[at + 3] as number) + latency
  if (latency < (sums[at + 4] as number)) sums[at + 4] = latency
  if (latency > (sums[at + 5] as number)) sums[at + 5] = latency
  if (latency === 1) sums[at + 6] = (sums[at + 6] as number) + 1
  if (latency === 0) sums[at + 7] = (sums[at + 7] as number) + 1
}

function sumUsage(
  sums: Float64Array,
  partOf: Int16Array,
  used: UsageColumns,
  skipped: Counts,
): void {
  const { rows, calls, models, modelIds, counts } = used
  // The rows that count, often few of many, and the index each is added at.
  const chosen = new Uint32Array(rows)
  const slotOf = new Uint32Array(rows)
  let count = 0
  for (let row = 0; row < rows; row++) {
    const part = partOf[calls[row] as number] as number
    if (part < 0 || counts[row] === skipped) continue
    chosen[count] = row
    slotOf[count] = (part * models.length + (modelIds[row] as number)) * USAGE_NUMBERS
    count += 1
  }
  sumRows(sums, used, chosen.subarray(0, count), slotOf)
}

/**
 * Adds rows of usage to USAGE_NUMBERS.
 *
 * @param slotOf - where the numbers begin that each of the rows is added to
 */
export function sumRows(
  sums: Float64Array,
  { counters }: UsageColumns,
  rows: Uint32Array,
  slotOf: Uint32Array,
): void {
  for (let index = 0; index < rows.length; index++) {
    const slot = slotOf[index] as number
    sums[slot] = (sums[slot] as number) + 1
  }
  counters.forEach((counter, index) => {
    addColumn(sums, rows, slotOf, counter, 1 + index)
  })
  const [read, creation, uncached] = [CACHE_READ, CACHE_CREATION, UNCACHED].map(
    (index) => counters[index],
  ) as [Integers, Integers, Integers]
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] as number
    const at = (slotOf[index] as number) + INPUT_MAX
    const input = (read[row] as number) + (creation[row] as number) + (uncached[row] as number)
    if (input > (sums[at] as number)) sums[at] = input
  }
}

function addColumn(
  sums: Float64Array,
  rowsOf: Uint32Array,
  slotOf: Uint32Array,
  counter: Integers,
  offset: number,
): void {
  for (let index = 0; index < rowsOf.length; index++) {
    const at = (slotOf[index] as number) + offset
    sums[at] = (sums[at] as number) + (counter[rowsOf[index] as number] as number)
  }
}

/** Drops the parts without entries; the part becomes the key. */
export function toKeyed({ parts, calls, models, usage }: PartSums): KeyedSums {
  const callKeys: number[] = []
  const usageKeys: number[] = []
  const usageModels: number[] = []
  for (let part = 0; part < parts; part++) {
    const at = part * CALL_NUMBERS
    // Ends whose starts are in another segment count, too. Without calls there are no numbers.
    if ((calls[at] as number) + (calls[at + 1] as number) > 0) callKeys.push(part)
    models.forEach((_model, model) => {
      if ((usage[(part * models.length + model) * USAGE_NUMBERS] as number) === 0) return
      usageKeys.push(part)
      usageModels.push(model)
    })
  }
  const usagePlaces = usageKeys.map(
    (key, row) => key * models.length + (usageModels[row] as number),
  )
  return {
    callKeys: Uint32Array.from(callKeys),
    calls: gather(calls, callKeys, CALL_NUMBERS),
    models,
    usageKeys: Uint32Array.from(usageKeys),
    usageModels: Uint32Array.from(usageModels),
    usage: gather(usage, usagePlaces, USAGE_NUMBERS),
  }
}

/** Returns the rows of numbers at some indexes. */
export function gather(
  numbers: Float64Array,
  places: readonly number[],
  stride: number,
): Float64Array {
  const gathered = new Float64Array(places.length * stride)
  places.forEach((place, row) => {
    gathered.set(numbers.subarray(place * stride, (place + 1) * stride), row * stride)
  })
  return gathered
}

/** Returns the latencies of the calls of each part, ascending. */
export function latencyRuns(columns: HourColumns, partOf: Int16Array, parts: number): Runs {
  const latencies = columns.latencies()
  if (columns.isSorted) return splitRuns(latencies.subarray(0, columns.ended), partOf, parts)
  const flags = columns.flags()
  const partOfEnded = partOf.map((part, call) =>
    ((flags[call] as number) & IS_ENDED) === 0 ? -1 : part,
  )
  const { values, bounds } = splitRuns(latencies, partOfEnded, parts)
  for (let part = 0; part < parts; part++) values.subarray(bounds[part], bounds[part + 1]).sort()
  return { values, bounds }
}

/** Groups the values by part and keeps their order. */
function splitRuns(values: Integers, partOf: Int16Array, parts: number) {
  const bounds = new Uint32Array(parts + 1)
  if (parts <= PASSES_MAX) {
    const picked = new Uint32Array(values.length + 1)
    for (let part = 0; part < parts; part++) {
      bounds[part + 1] = pickPart(values, partOf, part, picked, bounds[part] as number)
    }
    return { values: picked.subarray(0, bounds[parts]), bounds }
  }
  for (let call = 0; call < values.length; call++) {
    const next = (partOf[call] as number) + 1
    if (next > 0) bounds[next] = (bounds[next] as number) + 1
  }
  for (let part = 1; part <= parts; part++) {
    bounds[part] = (bounds[part] as number) + (bounds[part - 1] as number)
  }
  const ends = bounds.slice()
  const split = new Uint32Array(bounds[parts] as number)
  for (let call = 0; call < values.length; call++) {
    const part = partOf[call] as number
    if (part < 0) continue
    const end = ends[part] as number
    split[end] = values[call] as number
    ends[part] = end + 1
  }
  return { values: split, bounds }
}

/**
 * Writes every value but advances only past those of the part: a branch per value would take several times as long.
 *
 * @param picked - written from `from` on; one longer than all values
 * @returns the end of the part's values
 */
function pickPart(
  values: Integers,
  partOf: Int16Array,
  part: number,
  picked: Uint32Array,
  from: number,
): number {
  let end = from
  for (let call = 0; call < values.length; call++) {
    picked[end] = values[call] as number
    const difference = (partOf[call] as number) ^ part
    // 1 when there is no difference.
    end += ((difference - 1) & ~difference) >>> 31
  }
  return end
}
