/** The table of calls, filled in time order from rows and from sums of many calls. Pure. */

import { latencyMs } from '../../../domain/calls/call-view.ts'
import type { Summary } from '../../../domain/stats/aggregate.ts'
import { createBucketCursor } from '../../../domain/stats/bucket-cursor.ts'
import { createBucketTable } from '../../../domain/stats/bucket-table.ts'
import type { StatColumn } from '../../../domain/stats/metric-names.ts'
import type { CallMetric } from '../../../schemas/stats/stats.ts'
import { CALL_NUMBERS, emptyCalls, type Integers, SUM_MAX } from './sums.ts'

/** Indexes in CALL_NUMBERS. */
const [COUNT, ENDED, ERRORS, LATENCY_SUM, LATENCY_MIN, LATENCY_MAX] = [0, 1, 2, 3, 4, 5]
const NO_CALLS = emptyCalls(1)

export function createCallTable(
  startsUs: Float64Array,
  columns: readonly StatColumn<CallMetric>[],
) {
  const builder = createBucketTable(columns, startsUs.length)
  const cursor = createBucketCursor(startsUs, flush)
  const indexOf = (metric: CallMetric) => builder.metrics.indexOf(metric)
  const latency = indexOf('latency_ms')
  const callCount = indexOf('call_count')
  const errorCount = indexOf('error_count')
  /** CALL_NUMBERS of the current bucket that the builder does not have yet. */
  const sums = emptyCalls(1)

  /** Adds a metric that is 1 for some calls and 0 for the others. */
  function addBinary(metric: number, zeros: number, ones: number): void {
    if (metric === -1 || zeros + ones === 0) return
    builder.addSummary(metric, {
      count: zeros + ones,
      sum: ones,
      zeros,
      ones,
      min: zeros > 0 ? 0 : 1,
      max: ones > 0 ? 1 : 0,
    })
    if (!builder.hasPercentiles(metric)) return
    builder.addSorted(metric, new Uint8Array(zeros + ones).fill(1, zeros))
  }

  /** Moves the latencies to the builder. Counts stay: a single segment can hold ends without their starts. */
  function settleLatencies(): void {
    if (latency !== -1 && (sums[ENDED] as number) > 0) {
      builder.addSummary(latency, readLatencies(sums))
    }
    const [count, errors] = [sums[COUNT] as number, sums[ERRORS] as number]
    sums.set(NO_CALLS)
    sums[COUNT] = count
    sums[ERRORS] = errors
  }

  /** Moves the sums to the builder. */
  function settle(): void {
    settleLatencies()
    const [count, errors] = [sums[COUNT] as number, sums[ERRORS] as number]
    builder.countRows(count)
    addBinary(callCount, 0, count)
    addBinary(errorCount, count - errors, errors)
    sums.set(NO_CALLS)
  }

  function flush(bucket: number): void {
    settle()
    builder.flush(bucket)
  }

  return {
    table: builder.table,
    wantsLatencies: builder.hasPercentiles(latency),
    moveToBucket: cursor.moveToBucket,
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

    /** Adds the CALL_NUMBERS that start at `at`. */
    addSums(bucket: number, numbers: Float64Array, at: number): void {
      cursor.moveToBucket(bucket)
      addCallNumbers(sums, numbers, at, 0)
      if ((sums[LATENCY_SUM] as number) > SUM_MAX) settleLatencies()
    },

    /** Adds latencies of the current bucket, ascending. */
    addRun(values: Integers, from: number, to: number): void {
      if (latency !== -1) builder.addSorted(latency, values, from, to)
    },
  }
}

/** Adds the CALL_NUMBERS that start at `at` to those that start at `to`. */
export function addCallNumbers(
  sums: Float64Array,
  numbers: Float64Array,
  at: number,
  to: number,
): void {
  for (let index = 0; index < CALL_NUMBERS; index++) {
    const known = sums[to + index] as number
    const more = numbers[at + index] as number
    if (index === LATENCY_MIN) sums[to + index] = more < known ? more : known
    else if (index === LATENCY_MAX) sums[to + index] = more > known ? more : known
    else sums[to + index] = known + more
  }
}

function readLatencies(sums: Float64Array): Summary {
  const read = (index: number) => sums[index] as number
  return {
    count: read(1),
    sum: read(LATENCY_SUM),
    ones: read(6),
    zeros: read(7),
    min: read(LATENCY_MIN),
    max: read(LATENCY_MAX),
  }
}
