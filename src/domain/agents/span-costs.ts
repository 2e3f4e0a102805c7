/** The cost of an agent span. Pure; the caller provides the prices. */

import {
  AS_REPORTED,
  costParts,
  findPricing,
  inputCost,
  reportedCost,
  totalCost,
  toUsd,
} from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { readReportedCost } from '../usage/reported-cost.ts'
import { readServiceTier } from '../usage/usage.ts'
import { readReport } from '../usage/usage-report.ts'
import { readName } from '../usage/usage-reporter.ts'
import { type AgentSpan, modelOf } from './agent-span.ts'

/** US dollars; of a cost that the span itself reports, only the total is known. */
export interface SpanCosts {
  readonly input: number | null
  readonly output: number | null
  readonly total: number
}

/** The costs of a span, as those of its call; null without prices, usage, or a price of the model and a reported cost. */
export function costsOf(span: AgentSpan, prices: PriceTable | null): SpanCosts | null {
  const model = modelOf(span)
  if (prices === null || span.usage === null || model === null) return null
  const report = { ...span.usage }
  const { microcents } = readReportedCost(report, null)
  const used = {
    model,
    provider: readName(span.columns.provider_name),
    upstream_model: null,
    service_tier: readServiceTier(report),
    reports_cost: microcents !== null,
  }
  const found = findPricing(prices, used, span.call.started_at_us)
  if (found === null) return null
  if (found === AS_REPORTED) {
    return { input: null, output: null, total: toUsd(reportedCost(microcents ?? 0)) }
  }
  const parts = costParts(readReport(report, model, null).counts, found)
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
