/** Adds prices to selections of calls that use costs. */
import { type CallsSelection, usesCosts } from '../../domain/calls/calls-query.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'

/** Returns the selection with the prices of its project, which are read only if it uses costs. */
export async function withPrices(
  selection: CallsSelection,
  prices: PriceStore,
): Promise<CallsSelection> {
  if (!usesCosts(selection)) return selection
  return { ...selection, prices: await prices.listPrices(selection.project_id) }
}
