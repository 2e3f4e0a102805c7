/** The tables of one question, filled by rows or by sums of parts of hours, in order of time. Pure. */
import type { CallMetric, UsageMetric } from '../schemas/stats.ts'
import type { Summary } from './aggregate.ts'
import { createBucketCursor } from './bucket-cursor.ts'
import { type BucketTable, createBucketTable } from './bucket-table.ts'
import { latencyMs } from './call-view.ts'
import type { Integers } from './hour-columns.ts'
import type { HourParts } from './hour-parts.ts'
import { CALL_NUMBERS, type PartSums, USAGE_NUMBERS } from './hour-summary.ts'
import type { StatColumn } from './metric-names.ts'
import type { PriceTable } from './price-table.ts'
import type { ModelUsage } from './usage.ts'
import { createUsageTables, type TokenSums, tooLarge } from './usage-tables.ts'

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

  /** @returns the models of a part whose rows have to be added one by one */
  function addUsageSums(part: number, { hourUs, bounds }: HourParts, sums: PartSums): Set<string> {
    const rest = new Set<string>()
    sums.models.forEach((model, index) => {
      const at = (part * sums.models.length + index) * USAGE_NUMBERS
      if (sums.usage[at] === 0) return
      const isAdded = usage.addSums({
        model,
        rows: sums.usage[at] as number,
        tokens: readTokens(sums.usage, at),
        inputMax: sums.usage[at + USAGE_NUMBERS - 1] as number,
        fromUs: hourUs + (bounds[part] as number),
        toUs: hourUs + (bounds[part + 1] as number),
      })
      if (!isAdded) rest.add(model)
    })
    return rest
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

    /**
     * Adds the calls and the usage of parts of an hour.
     *
     * @param runs - latencies by part, each run ascending, or null where they were not asked for
     * @param rowsOf - the usage of a part by these models, row by row, for what sums do not tell
     */
    addParts(
      parts: HourParts,
      sums: PartSums,
      runs: readonly (readonly Integers[])[] | null,
      rowsOf: (
        part: number,
        models: ReadonlySet<string>,
        add: (row: ModelUsage, startedAtUs: number) => void,
      ) => void,
    ): void {
      for (let part = 0; part < sums.parts; part++) {
        const bucket = parts.firstBucket + part
        if (callColumns.length > 0) calls.addPart(bucket, part, sums, runs?.[part] ?? [])
        if (usageColumns.length === 0) continue
        usageCursor.moveToBucket(bucket)
        const rest = addUsageSums(part, parts, sums)
        if (rest.size > 0) rowsOf(part, rest, usage.add)
      }
    },

    /** After all rows and parts. */
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

function createCallTable(startsUs: Float64Array, columns: readonly StatColumn<CallMetric>[]) {
  const builder = createBucketTable(columns, startsUs.length)
  const cursor = createBucketCursor(startsUs, builder.flush)
  const indexOf = (metric: CallMetric) => builder.metrics.indexOf(metric)
  const latency = indexOf('latency_ms')
  const callCount = indexOf('call_count')
  const errorCount = indexOf('error_count')

  /** A metric that is 1 for some calls and 0 for the others. */
  function addBinary(metric: number, zeros: number, ones: number): void {
    if (metric === -1 || zeros + ones === 0) return
    builder.addSummary(metric, {
      ...{ count: zeros + ones, sum: ones, zeros, ones },
      min: zeros > 0 ? 0 : 1,
      max: ones > 0 ? 1 : 0,
    })
    if (!builder.hasPercentiles(metric)) return
    builder.addSorted(metric, new Uint8Array(zeros + ones).fill(1, zeros))
  }

  return {
    table: builder.table,
    wantsLatencies: builder.hasPercentiles(latency),
    end: cursor.end,

    addCall(startedAtUs: number, endedAtUs: number | null, isError: number): void {
      cursor.moveTo(startedAtUs)
      builder.countRows(1)
      if (latency !== -1 && endedAtUs !== null) {
        builder.add(latency, latencyMs(startedAtUs, endedAtUs))
      }
      if (callCount !== -1) builder.add(callCount, 1)
      if (errorCount !== -1) builder.add(errorCount, isError)
    },

    addPart(bucket: number, part: number, { calls }: PartSums, runs: readonly Integers[]): void {
      const at = part * CALL_NUMBERS
      const count = calls[at] as number
      if (count === 0) return
      cursor.moveToBucket(bucket)
      builder.countRows(count)
      const errors = calls[at + 2] as number
      addBinary(callCount, 0, count)
      addBinary(errorCount, count - errors, errors)
      if (latency === -1) return
      builder.addSummary(latency, readLatencies(calls, at))
      for (const run of runs) builder.addSorted(latency, run)
    },
  }
}

function readLatencies(calls: Float64Array, at: number): Summary {
  const read = (index: number) => calls[at + index] as number
  return { count: read(1), sum: read(3), min: read(4), max: read(5), ones: read(6), zeros: read(7) }
}

/** In the order of COUNTERS, behind the number of rows. */
function readTokens(sums: Float64Array, at: number): TokenSums {
  return {
    input_tokens: sums[at + 1] as number,
    output_tokens: sums[at + 2] as number,
    total_tokens: sums[at + 3] as number,
    cache_read_input_tokens: sums[at + 4] as number,
    cache_creation_input_tokens: sums[at + 5] as number,
    uncached_input_tokens: sums[at + 6] as number,
  }
}
