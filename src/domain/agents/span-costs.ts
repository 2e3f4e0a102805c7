/** The cost of an agent span. Pure; the caller provides the prices. */

import type { SpanUsage } from '../otel/span-usage.ts'
import { costParts, inputCost, totalCost, toUsd } from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { type AgentSpan, modelOf } from './agent-span.ts'

/** USD. */
export interface SpanCosts {
  readonly input: number
  readonly output: number
  readonly total: number
}

/** null without prices, usage, or a price of the model. */
export function costsOf(span: AgentSpan, prices: PriceTable | null): SpanCosts | null {
  const model = modelOf(span)
  if (prices === null || span.usage === null || model === null) return null
  const found = prices.find(model, span.call.started_at_us)
  if (!found) return null
  const parts = costParts(paidTokens(span.usage), found)
  return {
    input: toUsd(inputCost(parts)),
    output: toUsd(parts.output),
    total: toUsd(totalCost(parts)),
  }
}

function paidTokens(usage: SpanUsage) {
  const read = usage.prompt_tokens_details?.cached_tokens ?? 0
  const written = usage.cache_creation_input_tokens ?? 0
  return {
    uncached_input_tokens: Math.max(0, usage.prompt_tokens - read - written),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: usage.completion_tokens,
  }
}

/** Adds money up; null until some is known. */
export function addUsd(sum: number | null, more: number | null | undefined): number | null {
  return more === null || more === undefined ? sum : (sum ?? 0) + more
}
