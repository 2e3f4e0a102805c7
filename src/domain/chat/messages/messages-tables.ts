/** What chats and Anthropic's Messages API name differently, in both directions. Pure. */
import { isObject } from '../../json/is-object.ts'
import { countOrZero, objectOrEmpty } from '../../json/json-values.ts'

type Fields = Readonly<Record<string, unknown>>

/** `finish_reason` of a chat by `stop_reason` of a message; several reasons of a message are one of a chat. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

export function toFinishReason(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? 'stop'
}

interface ChatEnd {
  readonly finishReason: unknown
  /** The stop string, or id of a stop token, as some engines report it. */
  readonly stopReason: unknown
  readonly hasCalls: boolean
  readonly stopSequences: readonly string[]
}

/**
 * Spec: §4 (messages are an addition).
 * Choice: an engine that ends calls with `stop` ends them with tool_use here, since clients run tools only then.
 */
export function toStopReason({ finishReason, stopReason, hasCalls, stopSequences }: ChatEnd): {
  readonly stop_reason: string
  readonly stop_sequence: string | null
} {
  const end = (stop_reason: string) => ({ stop_reason, stop_sequence: null })
  if (finishReason === 'length') return end('max_tokens')
  if (finishReason === 'content_filter') return end('refusal')
  if (finishReason === 'tool_calls' || finishReason === 'function_call' || hasCalls) {
    return end('tool_use')
  }
  const isSequence = typeof stopReason === 'string' && stopSequences.includes(stopReason)
  return isSequence ? { stop_reason: 'stop_sequence', stop_sequence: stopReason } : end('end_turn')
}

/** Efforts of chats that messages do not have. */
const EFFORTS: Readonly<Record<string, string>> = { minimal: 'low' }

export function toEffort(reasoningEffort: string): string {
  return EFFORTS[reasoningEffort] ?? reasoningEffort
}

/** Budgets of thinking, in tokens, up to which an effort is low and medium. */
const LOW_BUDGET_MAX = 4_096
const MEDIUM_BUDGET_MAX = 16_384

/**
 * Spec: §4.3 reasoning_effort.
 * Choice: chats have no budget of tokens, so that it becomes the effort that is nearest.
 */
export function toReasoningEffort(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= LOW_BUDGET_MAX) return 'low'
  return budgetTokens <= MEDIUM_BUDGET_MAX ? 'medium' : 'high'
}

/** Usage of a message: its counts hold each token once, so that cached input lies beside the other. */
export function toMessageUsage(usage: Fields): Record<string, unknown> {
  const details = objectOrEmpty(usage.prompt_tokens_details)
  const read = countOrZero(details.cached_tokens)
  const written = countOrZero(details.cache_write_tokens)
  const { reasoning_tokens } = objectOrEmpty(usage.completion_tokens_details)
  const thinking = countOrZero(reasoning_tokens)
  return {
    input_tokens: Math.max(0, countOrZero(usage.prompt_tokens) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: countOrZero(usage.completion_tokens),
    ...(thinking > 0 ? { output_tokens_details: { thinking_tokens: thinking } } : {}),
  }
}

/** Usage of a chat: `prompt_tokens` holds cached input, too. */
export function toChatUsage(usage: Fields): Record<string, unknown> {
  const read = countOrZero(usage.cache_read_input_tokens)
  const written = countOrZero(usage.cache_creation_input_tokens)
  const prompt_tokens = countOrZero(usage.input_tokens) + read + written
  const completion_tokens = countOrZero(usage.output_tokens)
  const forHour = countOrZero(objectOrEmpty(usage.cache_creation).ephemeral_1h_input_tokens)
  const thinking = countOrZero(objectOrEmpty(usage.output_tokens_details).thinking_tokens)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_tokens: written,
      ...(forHour > 0 ? { ephemeral_1h_input_tokens: forHour } : {}),
    },
    ...(thinking > 0 ? { completion_tokens_details: { reasoning_tokens: thinking } } : {}),
  }
}

/** Returns the usage of a message with a later report of it: counts that are null in it stay as they were. */
export function mergeMessageUsage(usage: Fields, later: unknown): Fields {
  if (!isObject(later)) return usage
  const given = Object.entries(later).filter(([, value]) => value !== null)
  return { ...usage, ...Object.fromEntries(given) }
}
