/** Tables of usage, one for each model, filled while rows come in order of time. Pure. */
import { ApiError } from '../errors.ts'
import type { UsageMetric } from '../schemas/stats.ts'
import type { Measured } from './aggregate.ts'
import { type BucketTable, type BucketTableBuilder, createBucketTable } from './bucket-table.ts'
import { type CostParts, costParts, inputCost, isLinear, totalCost } from './cost.ts'
import type { StatColumn } from './metric-names.ts'
import type { PriceTable, UnitPrices } from './price-table.ts'
import type { ModelUsage } from './usage.ts'

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
export interface UsageSums {
  readonly model: string
  readonly rows: number
  readonly tokens: TokenSums
  /** The paid input of the longest. */
  readonly inputMax: number
  readonly fromUs: number
  readonly toUs: number
}

export type TokenSums = Omit<ModelUsage, 'model'>

/** Prices that hold from fromUs to before untilUs. */
interface Steady {
  readonly fromUs: number
  readonly untilUs: number
  readonly prices: UnitPrices | null
}

const FREE: Steady = { fromUs: 0, untilUs: Number.POSITIVE_INFINITY, prices: null }

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
    /**
     * Calls of the current bucket by their sums.
     *
     * @returns false, and nothing added, where the columns need the rows themselves
     */
    addSums({ model, rows, tokens, inputMax, fromUs, toUs }: UsageSums): boolean {
      if (!isSummable) return false
      const { untilUs, prices: found } = needsCost ? steadyAt(model, fromUs) : FREE
      if (toUs > untilUs || (found && !isLinear(found, inputMax))) return false
      const builder = builders.get(model) ?? open(model)
      touched.add(builder)
      builder.countRows(rows)
      if (needsCost && !found) unpriced.add(model)
      const parts = found && costParts(tokens, found, inputMax)
      metrics.forEach((metric, index) => {
        const cost = COSTS[metric]
        if (!cost) builder.addSum(index, rows, tokens[metric as keyof TokenSums])
        else if (parts) builder.addSum(index, rows, cost(parts))
      })
      return true
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
