/** The tables of one query, filled in time order from rows or from sums of parts of hours. Pure. */
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { createBucketCursor } from '../../../domain/stats/bucket-cursor.ts'
import type { StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { CallMetric, UsageMetric } from '../../../schemas/stats/stats.ts'
import type { UsageCounting } from '../../../schemas/usage/usage-counting.ts'
import { type StatsResult, tooManyValues } from '../../api/stats/stats.ts'
import { createCallTable } from './call-sums.ts'
import {
  CALL_NUMBERS,
  type HourParts,
  type HourSums,
  INPUT_MAX,
  type KeyedSums,
  USAGE_NUMBERS,
} from './sums.ts'
import { createUsageTables, type SumsTaker } from './usage-tables.ts'

interface StatsTablesOptions {
  readonly startsUs: Float64Array
  readonly callColumns: readonly StatColumn<CallMetric>[]
  readonly usageColumns: readonly StatColumn<UsageMetric>[]
  /** Limit on values of all tables together. */
  readonly valuesMax: number
  readonly prices: PriceTable
  readonly counting: UsageCounting
}

export type StatsTables = ReturnType<typeof createStatsTables>

/** Creates the tables. @throws ApiError validation_failed for more than valuesMax values, also while usage is added */
export function createStatsTables(options: StatsTablesOptions) {
  const { startsUs, callColumns, usageColumns, valuesMax, prices } = options
  if (callColumns.length * startsUs.length > valuesMax) throw tooManyValues()
  const usage = createUsageTables({
    columns: usageColumns,
    buckets: startsUs.length,
    valuesMax: valuesMax - callColumns.length * startsUs.length,
    prices,
  })
  const calls = createCallTable(startsUs, callColumns)
  const usageCursor = createBucketCursor(startsUs, usage.flush)
  const usageScratch = createScratch()

  function addUsageSums(pieces: readonly HourSums[], parts: HourParts): void {
    const fromUs = parts.hourUs + (parts.bounds[0] as number)
    const toUs = parts.hourUs + (parts.bounds.at(-1) as number)
    const adders = pieces.map((piece) => createUsageAdder(piece, fromUs, toUs))
    for (let part = 0; part < parts.bounds.length - 1; part++) {
      for (const add of adders) add(part, parts.firstBucket + part)
    }
  }

  /** Adds the usage of a segment, part by part. */
  function createUsageAdder({ sums, partOfKey, rowsOf }: HourSums, fromUs: number, toUs: number) {
    const { models } = sums
    const takers = new Array<SumsTaker | null>(models.length).fill(null)
    let row = 0

    return function add(part: number, bucket: number): void {
      const numbers = usageScratch(models.length * USAGE_NUMBERS)
      const next = sumUsage(numbers, sums, partOfKey, part, row)
      if (next === row) return
      row = next
      usageCursor.moveToBucket(bucket)
      const rest = new Set<string>()
      for (let index = 0; index < models.length; index++) {
        const at = index * USAGE_NUMBERS
        if (numbers[at] === 0) continue
        const model = models[index] as string
        takers[index] ??= usage.openSums(model, fromUs, toUs)
        const taker = takers[index] as SumsTaker | null
        const isTaken = taker && (numbers[at + INPUT_MAX] as number) <= taker.inputMax
        if (isTaken) taker.add(numbers, at)
        else rest.add(model)
      }
      if (rest.size > 0) rowsOf(part, rest, usage.add)
    }
  }

  return {
    wantsCalls: callColumns.length > 0,
    wantsUsage: usageColumns.length > 0,
    wantsLatencies: calls.wantsLatencies,
    counting: options.counting,
    addCall: calls.addCall,

    addUsage(row: ModelUsage, startedAtUs: number): void {
      usageCursor.moveTo(startedAtUs)
      usage.add(row, startedAtUs)
    },

    /** Marks the earlier buckets as complete: their latencies are not read any more. */
    leaveBuckets: calls.moveToBucket,

    /**
     * Adds the calls and the usage of an hour, which may consist of several segments.
     *
     * @throws BrokenSegmentError; the tables are unusable then
     */
    addHour(pieces: readonly HourSums[], parts: HourParts): void {
      if (callColumns.length > 0) addCallSums(calls, pieces, parts)
      if (usageColumns.length > 0) addUsageSums(pieces, parts)
    },

    /** Returns the result; call it after all rows and hours. */
    finish(): StatsResult {
      calls.end()
      usageCursor.end()
      return {
        calls: callColumns.length > 0 ? calls.table : null,
        usage: usage.tables(),
        ...usage.pricing(),
      }
    },
  }
}

/** Adds the calls of segments, part by part. */
function addCallSums(
  calls: ReturnType<typeof createCallTable>,
  pieces: readonly HourSums[],
  { firstBucket, bounds }: HourParts,
): void {
  const rows = pieces.map(() => 0)
  for (let part = 0; part < bounds.length - 1; part++) {
    pieces.forEach(({ sums: { callKeys, calls: numbers }, partOfKey, runs }, index) => {
      let row = rows[index] as number
      for (; row < callKeys.length; row++) {
        const key = callKeys[row] as number
        const found = partOfKey[key] as number
        if (found > part) break
        if (found < 0) continue
        calls.addSums(firstBucket + part, numbers, row * CALL_NUMBERS)
        if (runs) {
          calls.addRun(runs.values, runs.bounds[key] as number, runs.bounds[key + 1] as number)
        }
      }
      rows[index] = row
    })
  }
}

/** Returns an allocator of one array that all hours reuse; it grows to the longest request. */
function createScratch(): (length: number) => Float64Array {
  let scratch = new Float64Array()
  return (length) => {
    if (scratch.length < length) scratch = new Float64Array(length)
    return scratch
  }
}

/**
 * Adds up the usage of a part by model.
 *
 * @param into - set to the USAGE_NUMBERS of each model
 * @param from - the first row that may belong to the part
 * @returns the index after the last row of the part
 */
function sumUsage(
  into: Float64Array,
  { models, usageKeys, usageModels, usage }: KeyedSums,
  partOfKey: ArrayLike<number>,
  part: number,
  from: number,
): number {
  into.fill(0, 0, models.length * USAGE_NUMBERS)
  let row = from
  for (; row < usageKeys.length; row++) {
    const found = partOfKey[usageKeys[row] as number] as number
    if (found > part) break
    if (found < 0) continue
    const at = (usageModels[row] as number) * USAGE_NUMBERS
    const begin = row * USAGE_NUMBERS
    for (let index = 0; index < INPUT_MAX; index++) {
      into[at + index] = (into[at + index] as number) + (usage[begin + index] as number)
    }
    const input = usage[begin + INPUT_MAX] as number
    if (input > (into[at + INPUT_MAX] as number)) into[at + INPUT_MAX] = input
  }
  return row
}
