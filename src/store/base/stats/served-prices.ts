/** Prices of models as they were served, during one query; records models without a price. Pure. */
import {
  AS_REPORTED,
  findPricing,
  linearInputMax,
  type Pricing,
  steadyUntilUs,
} from '../../../domain/prices/cost.ts'
import type { PriceTable } from '../../../domain/prices/price-table.ts'
import { compareNames } from '../../../domain/stats/groups.ts'
import type { ModelUsage, PricedModel } from '../../../domain/usage/usage.ts'
import type { StatsResult } from '../../api/stats/stats.ts'
import { readServedKey } from './served-models.ts'

/** Prices that are valid in a period. */
export interface SteadyPrices {
  readonly model: string
  /** Null when unknown or when no cost was requested. */
  readonly prices: Pricing | null
  /** Limit: the longest paid input of a call; with a longer one, the rows are needed. */
  readonly inputMax: number
}

interface Steady extends SteadyPrices {
  readonly fromUs: number
  readonly untilUs: number
}

/** @param needsCost - whether a cost was requested; otherwise no prices are looked up */
export function createServedPrices(table: PriceTable, needsCost: boolean) {
  const unpriced = new Set<string>()
  const reported = new Set<string>()
  const servedModels = new Map<string, PricedModel>()
  const steady = new Map<string, Steady>()

  function readServed(served: string): PricedModel {
    const known = servedModels.get(served)
    if (known) return known
    const read = readServedKey(served)
    servedModels.set(served, read)
    return read
  }

  function note(model: string, found: Pricing | null): void {
    if (found === null) unpriced.add(model)
    else if (found === AS_REPORTED) reported.add(model)
  }

  function steadyAt(served: string, us: number): Steady {
    const known = steady.get(served)
    if (known && us >= known.fromUs && us < known.untilUs) return known
    const priced = readServed(served)
    const { model } = priced
    const prices = needsCost ? findPricing(table, priced, us) : null
    const isTiered = prices !== null && prices !== AS_REPORTED
    const found = {
      model,
      prices,
      inputMax: isTiered ? linearInputMax(prices) : Number.POSITIVE_INFINITY,
      fromUs: us,
      untilUs: needsCost ? steadyUntilUs(table, priced, us) : Number.POSITIVE_INFINITY,
    }
    steady.set(served, found)
    return found
  }

  return {
    /** Returns the prices of a row. */
    ofRow(usage: ModelUsage, startedAtUs: number): Pricing | null {
      if (!needsCost) return null
      const found = findPricing(table, usage, startedAtUs)
      note(usage.model, found)
      return found
    },
    /** Returns the prices in [fromUs, toUs); null when they change. @param served - the model as servedKey names it */
    steadyIn(served: string, fromUs: number, toUs: number): SteadyPrices | null {
      const found = steadyAt(served, fromUs)
      if (toUs > found.untilUs) return null
      if (needsCost) note(found.model, found.prices)
      return found
    },
    pricing: (): Pick<StatsResult, 'unpricedModels' | 'reportedModels'> => ({
      unpricedModels: [...unpriced].sort(compareNames),
      reportedModels: [...reported].sort(compareNames),
    }),
  }
}
