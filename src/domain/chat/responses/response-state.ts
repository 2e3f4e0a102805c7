/** The response object: its status, and the fields that it repeats from the request. Pure. */
import type { ResponseCreateRequest } from '../../../schemas/chat/responses/responses-request.ts'
import { countOrZero, objectOrEmpty } from '../../json/json-values.ts'

/** An item that the model made. Only what the writer of events changes is named. */
export interface OutputItem {
  readonly type: 'reasoning' | 'message' | 'function_call'
  readonly id: string
  status: 'in_progress' | 'completed' | 'incomplete'
  content?: OutputPart[]
  arguments?: string
  readonly [name: string]: unknown
}

export interface OutputPart {
  readonly type: 'output_text' | 'refusal' | 'reasoning_text'
  text?: string
  refusal?: string
  annotations?: unknown[]
  logprobs?: unknown[]
}

/** The fields that all states of one response share. */
export interface ResponseHead {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created_at: number
  /** Name of the model in responses. */
  readonly model: string
  readonly request: ResponseCreateRequest
  /** Whether the model calls tools. */
  readonly callsTools: boolean
}

type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'

/** The state of a response. */
export interface ResponseState {
  readonly status: ResponseStatus
  readonly output: readonly OutputItem[]
  /** Usage of the chat, if known. */
  readonly usage?: unknown
  /** The tier that the upstream reported. Default: the requested one. */
  readonly serviceTier?: string
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter'
  readonly error?: { readonly code: string; readonly message: string }
  /** Seconds since the epoch. */
  readonly completedAt?: number
}

export type ResponseBody = { readonly id: string; readonly [name: string]: unknown }

/** The response in a state. */
export function renderResponse(head: ResponseHead, state: ResponseState): ResponseBody {
  const { id, created_at, model, request, callsTools } = head
  const tools = (request.tools ?? []).map((tool) =>
    tool.type === 'function'
      ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
      : tool,
  )
  return {
    id,
    object: 'response',
    created_at,
    status: state.status,
    background: false,
    completed_at: state.status === 'completed' ? (state.completedAt ?? created_at) : null,
    error: state.error ?? null,
    incomplete_details: state.incompleteReason ? { reason: state.incompleteReason } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model,
    output: state.output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: state.serviceTier ?? request.service_tier ?? null,
    store: request.store ?? true,
    temperature: request.temperature ?? null,
    text: { ...request.text, format: request.text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? (tools.length > 0 && !callsTools ? 'none' : 'auto'),
    tools,
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    usage: renderResponseUsage(state.usage),
    ...(request.user ? { user: request.user } : {}),
  }
}

/** Tokens under the names of the responses API; null when the chat has none. */
function renderResponseUsage(usage: unknown) {
  if (typeof usage !== 'object' || usage === null) return null
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = objectOrEmpty(usage)
  const input = countOrZero(prompt_tokens)
  const output = countOrZero(completion_tokens)
  const ofPrompt = objectOrEmpty(details.prompt_tokens_details)
  const ofOutput = objectOrEmpty(details.completion_tokens_details)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: countOrZero(ofPrompt.cached_tokens),
      cache_write_tokens: countOrZero(ofPrompt.cache_write_tokens),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: countOrZero(ofOutput.reasoning_tokens) },
    total_tokens: total_tokens === undefined ? input + output : countOrZero(total_tokens),
  }
}
