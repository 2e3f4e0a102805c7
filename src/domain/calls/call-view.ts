/** A stored call in the format of the API, with derived summary fields and, on request, sizes. Pure. */
import type { CallSchema } from '../../schemas/calls/call.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import type { ModelUsageTotals } from '../../schemas/usage/usage.ts'
import { parseRef } from '../objects/refs.ts'
import type { CallCosts } from '../prices/cost.ts'

/** A call whose start has arrived; times in microseconds, bodies parsed. */
export interface StoredCall {
  readonly project_id: string
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly turn_id: string | null
  readonly op_name: string
  readonly display_name: string | null
  readonly started_at_us: number
  readonly ended_at_us: number | null
  readonly exception: string | null
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly otel_dump: JsonObject | null
  readonly output: unknown
  readonly summary: JsonObject
  readonly svc_user_id: string | null
  readonly svc_username: string | null
  readonly end_user_id: string | null
  readonly svc_run_id: string | null
  readonly svc_run_step: number | null
  readonly svc_run_step_end: number | null
  /** Bytes of attributes, inputs, otel_dump, output and summary as JSON. */
  readonly storage_size_bytes: number
  /** The call at which its usage counts, as both report one request; default: its own. */
  readonly usage_counted_in?: string | null
}

/** A stored call with its bodies as stored: JSON texts, null before they were received. */
export type CallTexts = Omit<
  StoredCall,
  'attributes' | 'inputs' | 'otel_dump' | 'output' | 'summary'
> & {
  readonly attributes_json: string | null
  readonly inputs_json: string | null
  readonly otel_dump_json: string | null
  readonly output_json: string | null
  readonly summary_json: string | null
}

/** Bodies that lists shorten. Spans of OpenTelemetry are shown in the attributes. */
export type PreviewedBody = 'attributes' | 'inputs' | 'output'

/** The descendants of a call. */
export interface TreeUsage {
  /** What they and the call used, by model; null: not known. */
  readonly byModel: Readonly<Record<string, ModelUsageTotals>> | null
  readonly failedDescendants: number
}

export interface CallViewOptions {
  /** Null when not requested. */
  readonly costs: CallCosts | null
  /** What the call used together with its descendants; null when not requested, or not known. */
  readonly tree?: TreeUsage | null
  /** Feedback about the call, or null when not requested. */
  readonly feedback?: readonly unknown[] | null
  /** Bodies that were not read because they are too long for a preview. */
  readonly unread?: readonly PreviewedBody[]
  readonly includeStorageSize: boolean
  /** Bytes of the trace, or null when not requested. */
  readonly totalStorageSizeBytes: number | null
}

type CallStatus = 'success' | 'error' | 'running' | 'descendant_error'

/**
 * Whole milliseconds from start to end, rounded down; 0 when clocks disagree and the end comes first.
 */
export function latencyMs(startedAtUs: number, endedAtUs: number): number {
  return Math.max(0, Math.floor((endedAtUs - startedAtUs) / 1000))
}

/** The fields that `summary.weave` is derived from. */
type SummaryParts = Pick<
  StoredCall,
  | 'op_name'
  | 'display_name'
  | 'exception'
  | 'started_at_us'
  | 'ended_at_us'
  | 'summary'
  | 'usage_counted_in'
>

/** Spec: §3 (no named states). Choice: the four states of Weave. */
function callStatus(call: SummaryParts, tree: TreeUsage | null): CallStatus {
  if (call.exception !== null) return 'error'
  if (call.ended_at_us === null) return 'running'
  if (tree !== null && tree.failedDescendants > 0) return 'descendant_error'
  const counts = call.summary.status_counts as { error?: unknown } | undefined
  return Number(counts?.error) > 0 ? 'descendant_error' : 'success'
}

/**
 * Attributes as reads show them, with the OpenTelemetry span that was sent along.
 *
 * Spec: §2.5, §2.6 otel_dump. Choice: the span is shown as attributes.otel_span, as the vendor does; where the client
 * has set that attribute itself, as attributes.otel_dump, and where that is set, too, with `_` before it.
 */
export function withOtelSpan(attributes: JsonObject, span: JsonObject | null): JsonObject {
  if (span === null) return attributes
  let name = Object.hasOwn(attributes, 'otel_span') ? 'otel_dump' : 'otel_span'
  while (Object.hasOwn(attributes, name)) name = `_${name}`
  return { [name]: span, ...attributes }
}

/** Renders a call. `summary.weave` is filled here and merged over what the client sent under it. Spec: §2.5. */
export function renderCall(call: StoredCall, options: CallViewOptions): CallSchema {
  const { attributes, otel_dump, started_at_us, ended_at_us, storage_size_bytes, ...more } = call
  const { usage_counted_in: _counted, ...rest } = more
  return {
    ...rest,
    attributes: withOtelSpan(attributes, otel_dump),
    started_at: renderTimestamp(started_at_us),
    ended_at: renderTimestampOrNull(ended_at_us),
    summary: { ...call.summary, weave: derivedSummary(call, options) },
    deleted_at: null,
    storage_size_bytes: options.includeStorageSize ? storage_size_bytes : null,
    total_storage_size_bytes: options.totalStorageSizeBytes,
  }
}

/** `summary.weave`: the client's own entries, and over them those that the server fills in. */
export function derivedSummary(
  call: SummaryParts,
  { costs = null, tree = null, feedback = null, unread = [] }: Partial<CallViewOptions>,
): JsonObject {
  const sent = call.summary.weave
  // Not the client's to say: a reader takes them for what the server knows.
  const {
    feedback: _sent,
    usage_counted_in: _counted,
    tree_usage: _tree,
    tree_total_tokens: _tokens,
    tree_total_cost: _cost,
    tree_error_count: _errors,
    unread_bodies: _unread,
    ...kept
  } = ((typeof sent === 'object' ? sent : null) ?? {}) as JsonObject
  const name =
    call.display_name === null
      ? { trace_name: parseRef(call.op_name)?.name ?? call.op_name }
      : { display_name: call.display_name }
  return {
    ...kept,
    status: callStatus(call, tree),
    ...(call.ended_at_us === null
      ? {}
      : { latency_ms: latencyMs(call.started_at_us, call.ended_at_us) }),
    ...name,
    ...costs,
    ...(call.usage_counted_in ? { usage_counted_in: call.usage_counted_in } : {}),
    ...(tree === null ? {} : renderTree(tree)),
    ...(feedback === null ? {} : { feedback }),
    ...(unread.length === 0 ? {} : { unread_bodies: unread }),
  }
}

/** The parts of a cost; null where the model has no price, and of the reported part where nothing is reported. */
const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
  'reported_cost',
] as const

/**
 * Spec: §2.5 summary (usage not shown). Choice: the cost of a tree is null when none of its models has a price or no price
 * was asked for.
 */
function renderTree({ byModel, failedDescendants }: TreeUsage): JsonObject {
  if (byModel === null) return { tree_error_count: failedDescendants }
  const models = Object.values(byModel)
  const costs = models.flatMap((model) => COSTS.flatMap((part) => model[part] ?? []))
  return {
    tree_usage: byModel,
    tree_total_tokens: models.reduce((sum, { total_tokens }) => sum + total_tokens, 0),
    tree_total_cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    tree_error_count: failedDescendants,
  }
}
