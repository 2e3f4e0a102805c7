/** What the API takes and gives, as far as the page uses it. */
import type { CallSchema } from '../../schemas/calls/call.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import type { CallStatsRequest, CallStatsResponse } from '../../schemas/stats/stats.ts'

export type Call = CallSchema
export type CallsQuestion = Partial<CallsQueryRequest> & { readonly project_id: string }
export type StatsQuestion = Omit<
  Partial<CallStatsRequest>,
  'start' | 'end' | 'call_metrics' | 'usage_metrics'
> & {
  readonly project_id: string
  readonly start: string
  readonly end: string
  readonly call_metrics: readonly object[]
  readonly usage_metrics: readonly object[]
}
export type StatsAnswer = CallStatsResponse

export interface Feedback {
  readonly id: string
  readonly feedback_type: string
  readonly creator: string | null
  readonly created_at: string
  readonly payload: Readonly<Record<string, unknown>>
}

export type Status = 'success' | 'error' | 'running' | 'descendant_error'

/** What the server adds to a call's summary. */
export interface CallFacts {
  readonly status: Status
  readonly latency_ms?: number
  readonly feedback?: readonly Feedback[]
  readonly costs?: Readonly<Record<string, CostFacts>>
}

interface CostFacts {
  readonly prompt_tokens_total_cost?: number | null
  readonly completion_tokens_total_cost?: number | null
}

export function factsOf(call: Call): CallFacts {
  return call.summary.weave as unknown as CallFacts
}

/** Tokens and costs that a call reports, all models together; null for what it does not report. */
export function usageOf(call: Call): {
  tokens: number | null
  cost: number | null
  models: string[]
} {
  const usage = (call.summary.usage ?? {}) as Record<string, Record<string, unknown>>
  const counts = Object.values(usage).map(
    (model) =>
      Number(model.total_tokens) ||
      sumOf(model, 'prompt_tokens', 'input_tokens') +
        sumOf(model, 'completion_tokens', 'output_tokens'),
  )
  const costs = Object.values(factsOf(call).costs ?? {}).map(
    (cost) => (cost.prompt_tokens_total_cost ?? 0) + (cost.completion_tokens_total_cost ?? 0),
  )
  return {
    tokens: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    models: Object.keys(usage),
  }
}

function sumOf(model: Record<string, unknown>, ...names: string[]): number {
  return names.reduce((sum, name) => sum || Number(model[name]) || 0, 0)
}
