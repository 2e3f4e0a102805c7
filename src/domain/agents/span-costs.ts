/** The cost of an agent span. Pure; the caller provides the prices. */

import { costParts, inputCost, totalCost, toUsd } from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { readReport } from '../usage/usage-report.ts'
import { readName } from '../usage/usage-reporter.ts'
import { type AgentSpan, modelOf } from './agent-span.ts'

/** USD. */
export interface SpanCosts {
  readonly input: number
  readonly output: number
  readonly total: number
}

/** The costs of a span; null without prices, usage, or a price of the model. */
export function costsOf(span: AgentSpan, prices: PriceTable | null): SpanCosts | null {
  const model = modelOf(span)
  if (prices === null || span.usage === null || model === null) return null
  const provider = readName(span.columns.provider_name)
  const found = prices.find(model, provider, span.call.started_at_us)
  if (!found) return null
  const parts = costParts(readReport({ ...span.usage }, model, null).counts, found)
  return {
    input: toUsd(inputCost(parts)),
    output: toUsd(parts.output),
    total: toUsd(totalCost(parts)),
  }
}

/** A sum of money; null until some is known. */
export function addUsd(sum: number | null, more: number | null | undefined): number | null {
  return more === null || more === undefined ? sum : (sum ?? 0) + more
}
