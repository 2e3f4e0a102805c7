/** The types of the API's requests and responses, as far as the page uses them. */
import type {
  AnnotationItemSchema,
  AnnotationState,
} from '../../schemas/annotation/annotation-item.ts'
import type { AnnotationQueueSchema } from '../../schemas/annotation/annotation-queue.ts'
import type { CallSchema } from '../../schemas/calls/call.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import type { FeedbackPayloadPath } from '../../schemas/feedback/feedback.ts'
import type { CallStatsRequest, CallStatsResponse } from '../../schemas/stats/stats.ts'
import type { ThreadSchema } from '../../schemas/threads/thread.ts'
import type { ModelUsageTotals, UsageResponse } from '../../schemas/usage/usage.ts'
import { isExactNumber, roundedNumber } from './exact-json.ts'

export type Call = CallSchema
export type CallsQueryBody = Partial<CallsQueryRequest> & { readonly project_id: string }
export type StatsQueryBody = Omit<
  Partial<CallStatsRequest>,
  'start' | 'end' | 'call_metrics' | 'usage_metrics' | 'group_by'
> & {
  readonly project_id: string
  readonly start: string
  readonly end: string
  readonly call_metrics: readonly object[]
  readonly usage_metrics: readonly object[]
  readonly group_by?: object
}
/** The part of a request for statistics that names the project and the range. */
export type StatsWindow = Pick<
  StatsQueryBody,
  'project_id' | 'start' | 'end' | 'granularity' | 'timezone'
>
export type StatsResponse = CallStatsResponse
export type Queue = AnnotationQueueSchema
export type QueueItem = AnnotationItemSchema
export type { AnnotationState }
export type PayloadPath = FeedbackPayloadPath
export type Thread = ThreadSchema
export type UsageSummary = UsageResponse
/** Usage by model. */
export type Usage = Readonly<Record<string, ModelUsageTotals>>

export interface Feedback {
  readonly id: string
  readonly feedback_type: string
  /** A name that the program set. */
  readonly creator: string | null
  /** The user of the key. */
  readonly svc_user_id: string | null
  readonly created_at: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Type of the feedback that tags a call. */
export const TAG = 'weft.tag'

/** Returns the tags among feedback, each once, in the order of the alphabet. */
export function tagsOf(
  feedback: readonly Pick<Feedback, 'feedback_type' | 'payload'>[],
): readonly string[] {
  const tags = feedback.flatMap(({ feedback_type, payload: { tag } }) =>
    feedback_type === TAG && typeof tag === 'string' ? [tag] : [],
  )
  return [...new Set(tags)].sort()
}

export type Status = 'success' | 'error' | 'running' | 'descendant_error'

/** The part of a call's summary that the server adds. */
interface CallFacts {
  readonly status: Status
  readonly latency_ms?: number
  readonly feedback?: readonly Feedback[]
  /** In US dollars; absent where nothing has a price or a reported cost. */
  readonly total_cost?: number
  /** The call at which its usage counts, as both report one request. */
  readonly usage_counted_in?: string
  /** By model. */
  readonly costs?: Readonly<Record<string, { readonly reported_cost?: number }>>
  /** What of the report of usage was not counted. */
  readonly usage_problems?: readonly string[]
  /** Bodies that were too long to be read for previews. */
  readonly unread_bodies?: readonly string[]
  /** Those of the call together with its descendants; where they were requested. */
  readonly tree_total_tokens?: number
  readonly tree_total_cost?: number | null
  readonly tree_error_count?: number
}

/** The four costs of a model, and what clients report where it has no price; their sum is the total. */
interface CostFacts {
  readonly prompt_tokens_total_cost?: number | null
  readonly completion_tokens_total_cost?: number | null
  readonly cache_read_input_tokens_total_cost?: number | null
  readonly cache_creation_input_tokens_total_cost?: number | null
  readonly reported_cost?: number | null
}

export function factsOf(call: Call): CallFacts {
  return call.summary.weave as unknown as CallFacts
}

/** Tokens and costs that a call reports, summed over models; null if it does not report them. */
export function usageOf(call: Call): {
  tokens: number | null
  cost: number | null
  models: string[]
} {
  const usage = membersOf(call.summary.usage)
  const counts = Object.values(usage).map((report) => {
    const model = membersOf(report)
    return (
      roundedNumber(model.total_tokens) ||
      sumOf(model, 'prompt_tokens', 'input_tokens') +
        sumOf(model, 'completion_tokens', 'output_tokens')
    )
  })
  return {
    tokens: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0),
    cost: factsOf(call).total_cost ?? null,
    models: Object.keys(usage),
  }
}

/** Returns what the call reports as its cost, summed over models; null if it reports none. */
export function reportedCostOf(call: Call): number | null {
  const costs = Object.values(factsOf(call).costs ?? {})
  const reported = costs.flatMap(({ reported_cost: cost }) => cost ?? [])
  return reported.length === 0 ? null : reported.reduce((sum, cost) => sum + cost, 0)
}

/** Returns the members of a value written by a program; a value that is not an object has none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && !isExactNumber(value) ? (value as Record<string, unknown>) : {}
}

function sumOf(model: Readonly<Record<string, unknown>>, ...names: string[]): number {
  return names.reduce((sum, name) => sum || roundedNumber(model[name]) || 0, 0)
}

/** Returns tokens and cost of usage summed by the server. */
export function totalOf(usage: Usage): { tokens: number; cost: number | null } {
  const models = Object.values(usage)
  const tokens = models.reduce((sum, { total_tokens }) => sum + total_tokens, 0)
  return { tokens, cost: costOf(models) }
}

/** Null if no model has a price or a reported cost. */
function costOf(models: readonly CostFacts[]): number | null {
  const parts = models
    .flatMap((model) => [
      model.prompt_tokens_total_cost,
      model.completion_tokens_total_cost,
      model.cache_read_input_tokens_total_cost,
      model.cache_creation_input_tokens_total_cost,
      model.reported_cost,
    ])
    .filter((part) => part !== null && part !== undefined)
  return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0)
}
