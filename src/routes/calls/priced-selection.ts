/** Prices for selections of calls that ask what calls cost. */
import { asksForCosts, type CallsSelection } from '../../domain/calls/calls-query.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'

/** The selection with the prices of its project, listed only where it asks for costs. */
export async function withPrices(
  selection: CallsSelection,
  prices: PriceStore,
): Promise<CallsSelection> {
  if (!asksForCosts(selection)) return selection
  return { ...selection, prices: await prices.listPrices(selection.project_id) }
}
