/** The usage of one model, bucket by bucket: from sums where they suffice, otherwise row by row. Pure. */

import {
  AS_REPORTED,
  type CostParts,
  costParts,
  inputCost,
  type Pricing,
  reportedCost,
  totalCost,
  toUsd,
} from '../../../domain/prices/cost.ts'
import { type BucketTable, createBucketTable } from '../../../domain/stats/bucket-table.ts'
import type { Measured } from '../../../domain/stats/exact-sum.ts'
import { isMoney, type StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { UsageMetric } from '../../../schemas/stats/stats.ts'
import { COUNTERS, INPUT_MAX, SUM_MAX, USAGE_NUMBERS } from './sums.ts'

/** A cost that clients report, of which the parts are not known. */
interface WholeCost {
  readonly whole: Measured
}

/** The cost metrics, each computed from a cost; null where it is not known. */
const COSTS: Readonly<
  Partial<Record<UsageMetric, (cost: CostParts | WholeCost) => Measured | null>>
> = {
  input_cost: (cost) => ('whole' in cost ? null : inputCost(cost)),
  output_cost: (cost) => ('whole' in cost ? null : cost.output),
  total_cost: (cost) => ('whole' in cost ? cost.whole : totalCost(cost)),
}

/** Whether sums suffice for these columns. */
export function isSummable(columns: readonly StatColumn[]): boolean {
  return columns.every(({ of }) => of === 'sum' || of === 'avg' || of === 'count')
}

/**
 * Reads the values of metrics from a row of usage, or from the sums of many; metrics by index. A cost that is not known has
 * none.
 */
interface UsageMeasures {
  /** @param prices - null when unknown or when no cost was requested */
  ofRow(
    usage: ModelUsage,
    prices: Pricing | null,
    add: (metric: number, value: Measured) => void,
  ): void
  /** @param sums - USAGE_NUMBERS of calls at these prices */
  ofSums(
    sums: Float64Array,
    prices: Pricing | null,
    add: (metric: number, sum: Measured) => void,
  ): void
}

export function createUsageMeasures(metrics: readonly UsageMetric[]): UsageMeasures {
  const needsCost = metrics.some(isMoney)
  const places = metrics.map(slotOf)
  return {
    ofRow(usage, prices, add) {
      const paid = needsCost && prices ? costOfRow(usage, prices) : null
      metrics.forEach((metric, index) => {
        const cost = COSTS[metric]
        const amount = cost && paid ? cost(paid) : null
        if (!cost) add(index, usage[metric as keyof ModelUsage] as number)
        else if (amount !== null) add(index, amount)
      })
    },
    ofSums(sums, prices, add) {
      const paid = needsCost && prices ? costOfSums(sums, prices) : null
      metrics.forEach((metric, index) => {
        const cost = COSTS[metric]
        const amount = cost && paid ? cost(paid) : null
        if (!cost) add(index, sums[places[index] as number] as number)
        else if (amount !== null) add(index, amount)
      })
    },
  }
}

export interface ModelTable {
  readonly table: BucketTable
  /**
   * Adds a row to the current bucket.
   *
   * @param prices - null when unknown or when no cost was requested
   */
  addRow(usage: ModelUsage, prices: Pricing | null): void
  /**
   * Adds calls to the current bucket by their USAGE_NUMBERS, which start at `at`; only for summable columns.
   *
   * @param prices - valid for all of the calls, none of which reaches a tier
   */
  addSums(numbers: Float64Array, at: number, prices: Pricing | null): void
  /** Stores what was added since the last flush as the values of a bucket. */
  flush(bucket: number): void
}

export function createModelTable(
  columns: readonly StatColumn<UsageMetric>[],
  buckets: number,
): ModelTable {
  const builder = createBucketTable(columns, buckets, isMoney)
  const { table } = builder
  const metrics = builder.metrics as readonly UsageMetric[]
  const measures = createUsageMeasures(metrics)
  const needsCost = metrics.some(isMoney)
  const columnPlaces = columns.map(({ metric }) => slotOf(metric))
  /** USAGE_NUMBERS of the current bucket that the builder does not have yet; all at these prices. */
  const sums = new Float64Array(USAGE_NUMBERS)
  let sumPrices: Pricing | null = null
  let isBuilding = false

  /** Moves the sums to the builder. */
  function settle(): void {
    const rows = sums[0] as number
    if (rows === 0) return
    isBuilding = true
    builder.countRows(rows)
    measures.ofSums(sums, sumPrices, (index, sum) => builder.addSum(index, rows, sum))
    sums.fill(0)
  }

  /** Writes a bucket that has only sums directly, with the values that the builder would write. */
  function writeSums(bucket: number): void {
    const rows = sums[0] as number
    table.count[bucket] = rows
    const paid = needsCost && sumPrices ? costOfSums(sums, sumPrices) : null
    for (let index = 0; index < columns.length; index++) {
      const { metric, of } = columns[index] as StatColumn<UsageMetric>
      const place = columnPlaces[index] as number
      const cost = place === -1 ? COSTS[metric] : undefined
      const values = table.values[index] as Float64Array
      const amount = cost && paid ? cost(paid) : null
      if (cost && amount === null) values[bucket] = of === 'count' ? 0 : Number.NaN
      else if (of === 'count') values[bucket] = rows
      else {
        const sum = amount === null ? (sums[place] as number) : toUsd(amount)
        values[bucket] = of === 'sum' ? sum : sum / rows
      }
    }
    sums.fill(0)
  }

  return {
    table,
    addRow(usage, prices) {
      isBuilding = true
      builder.countRows(1)
      measures.ofRow(usage, prices, builder.add)
    },
    addSums(numbers, at, prices) {
      if (prices !== sumPrices) {
        settle()
        sumPrices = prices
      }
      let most = 0
      for (let index = 0; index < INPUT_MAX; index++) {
        const sum = (sums[index] as number) + (numbers[at + index] as number)
        sums[index] = sum
        if (sum > most) most = sum
      }
      const input = numbers[at + INPUT_MAX] as number
      if (input > (sums[INPUT_MAX] as number)) sums[INPUT_MAX] = input
      if (most > SUM_MAX) settle()
    },
    flush(bucket) {
      if (!isBuilding) {
        if (sums[0] !== 0) writeSums(bucket)
        return
      }
      settle()
      builder.flush(bucket)
      isBuilding = false
    },
  }
}

function costOfRow(usage: ModelUsage, prices: Pricing): CostParts | WholeCost {
  return prices === AS_REPORTED
    ? { whole: reportedCost(usage.reported_cost_microcents) }
    : costParts(usage, prices)
}

/** Sums follow the count of rows in the order of COUNTERS. Named here one by one: this runs for every bucket. */
function costOfSums(sums: Float64Array, prices: Pricing): CostParts | WholeCost {
  if (prices === AS_REPORTED) return { whole: reportedCost(sums[14] as number) }
  const tokens = {
    output_tokens: sums[2] as number,
    cache_read_input_tokens: sums[4] as number,
    cache_creation_input_tokens: sums[5] as number,
    uncached_input_tokens: sums[6] as number,
    input_audio_tokens: sums[7] as number,
    input_image_tokens: sums[8] as number,
    cache_read_audio_tokens: sums[9] as number,
    cache_creation_1h_input_tokens: sums[10] as number,
    reasoning_tokens: sums[11] as number,
    output_audio_tokens: sums[12] as number,
    output_image_tokens: sums[13] as number,
  }
  return costParts(tokens, prices, sums[INPUT_MAX])
}

/** Returns the index of a metric in USAGE_NUMBERS; -1 for costs. */
function slotOf(metric: UsageMetric): number {
  const counter = (COUNTERS as readonly string[]).indexOf(metric)
  return counter === -1 ? -1 : counter + 1
}
