/** Tables of usage, one for each model, filled in time order. Pure. */
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { compareNames } from '../../../domain/stats/groups.ts'
import { isMoney, type StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { UsageMetric } from '../../../schemas/stats/stats.ts'
import { type StatsResult, tooManyValues } from '../../api/stats/stats.ts'
import { createServedPrices } from './served-prices.ts'
import { createModelTable, isSummable, type ModelTable } from './usage-sums.ts'

/** Limit: models of one result; each costs memory for every bucket. */
const MODELS_MAX = 1000

interface UsageTablesOptions {
  readonly columns: readonly StatColumn<UsageMetric>[]
  readonly buckets: number
  /** Limit on values of all models together. */
  readonly valuesMax: number
  readonly prices: PriceTable
}

/** Adds the usage of a model by sums. */
export interface SumsTaker {
  /** Limit: the longest paid input of a call; with a longer one, the rows are needed. */
  readonly inputMax: number
  /** Adds calls to the current bucket by their USAGE_NUMBERS, which start at `at`. */
  add(numbers: Float64Array, at: number): void
}

/** Creates the tables. `add` and `openSums` throw ApiError validation_failed when the result has too many values. */
export function createUsageTables({ columns, buckets, valuesMax, prices }: UsageTablesOptions) {
  const byModel = new Map<string, ModelTable>()
  const needsCost = columns.some(({ metric }) => isMoney(metric))
  const served = createServedPrices(prices, needsCost)
  const takesSums = isSummable(columns)

  function open(model: string): ModelTable {
    const known = byModel.get(model)
    if (known) return known
    const values = (byModel.size + 1) * buckets * columns.length
    if (byModel.size === MODELS_MAX || values > valuesMax) throw tooManyValues()
    const table = createModelTable(columns, buckets)
    byModel.set(model, table)
    return table
  }

  return {
    /** Whether sums suffice for the columns. */
    takesSums,
    /** Adds a row to the current bucket. */
    add(usage: ModelUsage, startedAtUs: number): void {
      open(usage.model).addRow(usage, served.ofRow(usage, startedAtUs))
    },
    /** @param servedName - the model as servedKey names it. @returns a taker for calls in [fromUs, toUs); null when the columns need the rows */
    openSums(servedName: string, fromUs: number, toUs: number): SumsTaker | null {
      const steady = takesSums ? served.steadyIn(servedName, fromUs, toUs) : null
      if (steady === null) return null
      const table = open(steady.model)
      return {
        inputMax: steady.inputMax,
        add: (numbers, at) => table.addSums(numbers, at, steady.prices),
      }
    },
    /** Stores what was added since the last flush as the values of a bucket. */
    flush(bucket: number): void {
      for (const table of byModel.values()) table.flush(bucket)
    },
    /** Returns the tables by model, sorted by name. */
    tables(): StatsResult['usage'] {
      return [...byModel]
        .map(([model, { table }]) => ({ model, table }))
        .sort((a, b) => compareNames(a.model, b.model))
    },
    /** Returns the models without a price. */
    pricing: served.pricing,
  }
}
