/** Tables of usage, one for each model, filled while rows come in order of time. Pure. */
import { ApiError } from '../errors.ts'
import type { UsageMetric } from '../schemas/stats.ts'
import type { Measured } from './aggregate.ts'
import { type BucketTable, type BucketTableBuilder, createBucketTable } from './bucket-table.ts'
import { type CostParts, costParts, inputCost, isLinear, totalCost } from './cost.ts'
import type { StatColumn } from './metric-names.ts'
import type { PriceTable, UnitPrices } from './price-table.ts'
import type { ModelUsage } from './usage.ts'

/** What sums do not tell; nobody asks for it where they are enough. */
const NO_VALUES = {
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  ones: 0,
  zeros: 0,
}
/** Limit: models of one answer; each costs memory for every bucket. */
const MODELS_MAX = 1000

export interface UsageTablesOptions {
  readonly columns: readonly StatColumn<UsageMetric>[]
  readonly buckets: number
  /** Limit on values of all models together. */
  readonly valuesMax: number
  readonly prices: PriceTable
}

/** The usage of a model by many calls, which lie in the times from fromUs to before toUs. */
export interface UsageSums extends ModelUsage {
  readonly rows: number
  /** The paid input of the longest. */
  readonly inputMax: number
  readonly fromUs: number
  readonly toUs: number
}

/** Prices that hold from fromUs to before untilUs. */
interface Steady {
  readonly fromUs: number
  readonly untilUs: number
  readonly prices: UnitPrices | null
}

/** Money by metric, out of the parts of a cost. */
const COSTS: Readonly<Partial<Record<UsageMetric, (parts: CostParts) => Measured>>> = {
  input_cost: inputCost,
  output_cost: (parts) => parts.output,
  total_cost: totalCost,
}

/** @throws ApiError validation_failed from `add`, when the answer would have too many values */
export function createUsageTables({ columns, buckets, valuesMax, prices }: UsageTablesOptions) {
  const builders = new Map<string, BucketTableBuilder>()
  const touched = new Set<BucketTableBuilder>()
  const unpriced = new Set<string>()
  const metrics = [...new Set(columns.map(({ metric }) => metric))]
  const needsCost = metrics.some((metric) => COSTS[metric])
  const steady = new Map<string, Steady>()
  const isSummable = columns.every(({ of }) => of === 'sum' || of === 'avg' || of === 'count')

  function steadyAt(model: string, us: number): Steady {
    const known = steady.get(model)
    if (known && us >= known.fromUs && us < known.untilUs) return known
    const untilUs = prices.steadyUntilUs(model, us)
    const found = { fromUs: us, untilUs, prices: prices.find(model, us) }
    steady.set(model, found)
    return found
  }

  function open(model: string): BucketTableBuilder {
    const values = (builders.size + 1) * buckets * columns.length
    if (builders.size === MODELS_MAX || values > valuesMax) throw tooLarge()
    const builder = createBucketTable(columns, buckets, (metric) => metric in COSTS)
    builders.set(model, builder)
    return builder
  }

  return {
    /** A row of the current bucket. */
    add(usage: ModelUsage, startedAtUs: number): void {
      const { model } = usage
      const builder = builders.get(model) ?? open(model)
      touched.add(builder)
      builder.countRows(1)
      const found = needsCost ? prices.find(model, startedAtUs) : null
      if (needsCost && !found) unpriced.add(model)
      const parts = found && costParts(usage, found)
      metrics.forEach((metric, index) => {
        const cost = COSTS[metric]
        if (!cost) builder.add(index, usage[metric as keyof ModelUsage] as number)
        else if (parts) builder.add(index, cost(parts))
      })
    },
    /** Whether sums over these calls are all that the columns need. */
    areEnough({ model, inputMax, fromUs, toUs }: UsageSums): boolean {
      if (!isSummable) return false
      if (!needsCost) return true
      const { untilUs, prices: found } = steadyAt(model, fromUs)
      return toUs <= untilUs && (found === null || isLinear(found, inputMax))
    },
    /** Calls of the current bucket; only where the sums are enough. */
    addSums(sums: UsageSums): void {
      const { model, rows } = sums
      const builder = builders.get(model) ?? open(model)
      touched.add(builder)
      builder.countRows(rows)
      const found = needsCost ? steadyAt(model, sums.fromUs).prices : null
      if (needsCost && !found) unpriced.add(model)
      const parts = found && costParts(sums, found, sums.inputMax)
      metrics.forEach((metric, index) => {
        const cost = COSTS[metric]
        if (cost && !parts) return
        const sum = cost && parts ? cost(parts) : (sums[metric as keyof ModelUsage] as number)
        builder.addSummary(index, { ...NO_VALUES, count: rows, sum })
      })
    },
    /** Writes down what came since the last flush as the values of a bucket. */
    flush(bucket: number): void {
      for (const builder of touched) builder.flush(bucket)
      touched.clear()
    },
    /** By model, sorted by name. */
    tables(): { model: string; table: BucketTable }[] {
      return [...builders]
        .map(([model, { table }]) => ({ model, table }))
        .sort((a, b) => compare(a.model, b.model))
    },
    unpricedModels: () => [...unpriced].sort(compare),
  }
}

/** The refusal of an answer with too many values. */
export function tooLarge(): ApiError {
  return new ApiError('validation_failed', {
    message: 'granularity gives too many values: ask for longer buckets, fewer metrics or a filter',
    param: 'granularity',
  })
}

/** By code unit, as the machine's language must not decide. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
