/** Tables of usage, one for each model, filled in time order. Pure. */
import { linearInputMax } from '../../../domain/prices/cost.ts'
import type { PriceTable, UnitPrices } from '../../../domain/prices/price-table.ts'
import { isMoney, type StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { UsageMetric } from '../../../schemas/stats/stats.ts'
import { type StatsResult, tooManyValues } from '../../api/stats/stats.ts'
import { readServedKey } from './served-models.ts'
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

/** Prices that are valid in [fromUs, untilUs). */
interface Steady {
  readonly fromUs: number
  readonly untilUs: number
  readonly prices: UnitPrices | null
}

const FREE: Steady = { fromUs: 0, untilUs: Number.POSITIVE_INFINITY, prices: null }

/** Creates the tables. `add` and `openSums` throw ApiError validation_failed when the result has too many values. */
export function createUsageTables({ columns, buckets, valuesMax, prices }: UsageTablesOptions) {
  const byModel = new Map<string, ModelTable>()
  const unpriced = new Set<string>()
  const needsCost = columns.some(({ metric }) => isMoney(metric))
  const steady = new Map<string, Steady>()
  const takesSums = isSummable(columns)

  function steadyAt(served: string, us: number): Steady {
    const known = steady.get(served)
    if (known && us >= known.fromUs && us < known.untilUs) return known
    const { model, provider } = readServedKey(served)
    const untilUs = prices.steadyUntilUs(model, provider, us)
    const found = { fromUs: us, untilUs, prices: prices.find(model, provider, us) }
    steady.set(served, found)
    return found
  }

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
      const { model, provider } = usage
      const found = needsCost ? prices.find(model, provider, startedAtUs) : null
      if (needsCost && !found) unpriced.add(model)
      open(model).addRow(usage, found)
    },
    /** @param served - the model as servedKey names it. @returns a taker for calls in [fromUs, toUs); null when the columns need the rows */
    openSums(served: string, fromUs: number, toUs: number): SumsTaker | null {
      if (!takesSums) return null
      const { untilUs, prices: found } = needsCost ? steadyAt(served, fromUs) : FREE
      if (toUs > untilUs) return null
      const { model } = readServedKey(served)
      const table = open(model)
      if (needsCost && !found) unpriced.add(model)
      return {
        inputMax: found ? linearInputMax(found) : Number.POSITIVE_INFINITY,
        add: (numbers, at) => table.addSums(numbers, at, found),
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
        .sort((a, b) => compare(a.model, b.model))
    },
    unpricedModels: () => [...unpriced].sort(compare),
  }
}

/** Compares by code unit, independent of the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
