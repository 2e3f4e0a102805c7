/** Tables of usage, one for each model, filled in time order. Pure. */
import {
  AS_REPORTED,
  findPricing,
  linearInputMax,
  type Pricing,
  steadyUntilUs,
} from '../../../domain/prices/cost.ts'
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { isMoney, type StatColumn } from '../../../domain/stats/metric-names.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
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
  readonly prices: Pricing | null
}

const FREE: Steady = { fromUs: 0, untilUs: Number.POSITIVE_INFINITY, prices: null }

/** Creates the tables. `add` and `openSums` throw ApiError validation_failed when the result has too many values. */
export function createUsageTables({ columns, buckets, valuesMax, prices }: UsageTablesOptions) {
  const byModel = new Map<string, ModelTable>()
  const unpriced = new Set<string>()
  const reported = new Set<string>()
  const servedModels = new Map<string, PricedModel>()
  const needsCost = columns.some(({ metric }) => isMoney(metric))
  const steady = new Map<string, Steady>()
  const takesSums = isSummable(columns)

  function readServed(served: string): PricedModel {
    const known = servedModels.get(served)
    if (known) return known
    const read = readServedKey(served)
    servedModels.set(served, read)
    return read
  }

  function steadyAt(served: string, us: number): Steady {
    const known = steady.get(served)
    if (known && us >= known.fromUs && us < known.untilUs) return known
    const model = readServed(served)
    const untilUs = steadyUntilUs(prices, model, us)
    const found = { fromUs: us, untilUs, prices: findPricing(prices, model, us) }
    steady.set(served, found)
    return found
  }

  function notePricing(model: string, found: Pricing | null): void {
    if (found === null) unpriced.add(model)
    else if (found === AS_REPORTED) reported.add(model)
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
      const found = needsCost ? findPricing(prices, usage, startedAtUs) : null
      if (needsCost) notePricing(usage.model, found)
      open(usage.model).addRow(usage, found)
    },
    /** @param served - the model as servedKey names it. @returns a taker for calls in [fromUs, toUs); null when the columns need the rows */
    openSums(served: string, fromUs: number, toUs: number): SumsTaker | null {
      if (!takesSums) return null
      const { untilUs, prices: found } = needsCost ? steadyAt(served, fromUs) : FREE
      if (toUs > untilUs) return null
      const { model } = readServed(served)
      const table = open(model)
      if (needsCost) notePricing(model, found)
      return {
        inputMax: found && found !== AS_REPORTED ? linearInputMax(found) : Number.POSITIVE_INFINITY,
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
    /** Returns the models without a price. */
    pricing: () => ({
      unpricedModels: [...unpriced].sort(compare),
      reportedModels: [...reported].sort(compare),
    }),
  }
}

/** Compares by code unit, independent of the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
