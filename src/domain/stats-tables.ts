/** The tables of one question, filled by rows or by sums of parts of hours, in order of time. Pure. */
import type { CallMetric, UsageMetric } from '../schemas/stats.ts'
import { createBucketCursor } from './bucket-cursor.ts'
import type { BucketTable } from './bucket-table.ts'
import { createCallTable } from './call-sums.ts'
import type { HourSums } from './hour-stats.ts'
import { CALL_NUMBERS, USAGE_NUMBERS } from './hour-summary.ts'
import type { StatColumn } from './metric-names.ts'
import type { PriceTable } from './price-table.ts'
import type { ModelUsage } from './usage.ts'
import { type AddUsageSums, createUsageTables, tooLarge, type UsageTables } from './usage-tables.ts'

export interface StatsTablesOptions {
  readonly startsUs: Float64Array
  readonly callColumns: readonly StatColumn<CallMetric>[]
  readonly usageColumns: readonly StatColumn<UsageMetric>[]
  /** Limit on values of all tables together. */
  readonly valuesMax: number
  readonly prices: PriceTable
}

export type StatsTables = ReturnType<typeof createStatsTables>

/** @throws ApiError validation_failed for more than valuesMax values, also while usage is added */
export function createStatsTables(options: StatsTablesOptions) {
  const { startsUs, callColumns, usageColumns, valuesMax, prices } = options
  if (callColumns.length * startsUs.length > valuesMax) throw tooLarge()
  const usage = createUsageTables({
    columns: usageColumns,
    buckets: startsUs.length,
    valuesMax: valuesMax - callColumns.length * startsUs.length,
    prices,
  })
  const calls = createCallTable(startsUs, callColumns)
  const usageCursor = createBucketCursor(startsUs, usage.flush)

  function addCallSums({ parts, sums, partOfKey, runs }: HourSums): void {
    const { callKeys, calls: numbers } = sums
    for (let row = 0; row < callKeys.length; row++) {
      const key = callKeys[row] as number
      const part = partOfKey[key] as number
      if (part < 0) continue
      calls.addSums(parts.firstBucket + part, numbers, row * CALL_NUMBERS)
      if (runs)
        calls.addRun(runs.values, runs.bounds[key] as number, runs.bounds[key + 1] as number)
    }
  }

  function addUsageSums(hour: HourSums): void {
    const { parts, sums, partOfKey, rowsOf } = hour
    const { usageKeys, usageModels, usage: numbers } = sums
    const { adders, rest } = openModels(hour, usage)
    let row = 0
    for (let part = 0; part < parts.bounds.length - 1; part++) {
      let isReached = false
      for (; row < usageKeys.length; row++) {
        const found = partOfKey[usageKeys[row] as number] as number
        if (found > part) break
        if (found < 0) continue
        if (!isReached) usageCursor.moveToBucket(parts.firstBucket + part)
        isReached = true
        adders[usageModels[row] as number]?.(numbers, row * USAGE_NUMBERS)
      }
      if (isReached && rest.size > 0) rowsOf(part, rest, usage.add)
    }
  }

  return {
    wantsCalls: callColumns.length > 0,
    wantsUsage: usageColumns.length > 0,
    wantsLatencies: calls.wantsLatencies,
    addCall: calls.addCall,

    addUsage(row: ModelUsage, startedAtUs: number): void {
      usageCursor.moveTo(startedAtUs)
      usage.add(row, startedAtUs)
    },

    /** Adds the calls and the usage of an hour. @throws BrokenSegmentError; the tables are then of no use any more */
    addHour(hour: HourSums): void {
      if (callColumns.length > 0) addCallSums(hour)
      if (usageColumns.length > 0) addUsageSums(hour)
    },

    /** After all rows and hours. */
    finish(): {
      calls: BucketTable | null
      usage: { model: string; table: BucketTable }[]
      unpricedModels: string[]
    } {
      calls.end()
      usageCursor.end()
      return {
        calls: callColumns.length > 0 ? calls.table : null,
        usage: usage.tables(),
        unpricedModels: usage.unpricedModels(),
      }
    },
  }
}

/** The models that count: what takes their sums, and those whose rows have to be added one by one. */
function openModels({ parts, sums, partOfKey }: HourSums, { openSums }: UsageTables) {
  const { models, usageKeys, usageModels, usage: numbers } = sums
  const inputMax = new Float64Array(models.length).fill(-1)
  for (let row = 0; row < usageKeys.length; row++) {
    if ((partOfKey[usageKeys[row] as number] as number) < 0) continue
    const index = usageModels[row] as number
    const input = numbers[row * USAGE_NUMBERS + USAGE_NUMBERS - 1] as number
    if (input > (inputMax[index] as number)) inputMax[index] = input
  }
  const fromUs = parts.hourUs + (parts.bounds[0] as number)
  const toUs = parts.hourUs + (parts.bounds.at(-1) as number)
  const rest = new Set<string>()
  const adders = models.map((model, index): AddUsageSums | null => {
    const longest = inputMax[index] as number
    if (longest < 0) return null
    const add = openSums({ model, inputMax: longest, fromUs, toUs })
    if (!add) rest.add(model)
    return add
  })
  return { adders, rest }
}
