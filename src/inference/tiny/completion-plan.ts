/**
 * Reads a chat request into the plan of one generation: every default filled in, ready to be sent
 * to the worker. It knows no vocabulary; ids are checked where the model is.
 */
import { ApiError } from '../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../schemas/chat-request.ts'
import type { PromptMessage } from './chat-prompt.ts'
import type { SamplingParams } from './sampler.ts'

/** All that the worker needs for one request; it can be cloned between threads. */
export interface CompletionPlan {
  readonly messages: readonly PromptMessage[]
  readonly addGenerationPrompt: boolean
  /** Tokens of each choice, 1 or more; null for all that the context leaves free. */
  readonly tokensMax: number | null
  /** Choices, 1 or more. */
  readonly choices: number
  readonly seed: bigint
  readonly sampling: Omit<SamplingParams, 'endIds'>
  /** Ids that end a choice beside the model's own. */
  readonly stopIds: readonly number[]
  readonly stops: readonly string[]
  readonly isStopIncluded: boolean
  readonly isEosIgnored: boolean
}

type Message = ChatCompletionRequest['messages'][number]

/**
 * The plan of a request.
 *
 * @param drawSeed - entropy for a request without a seed
 * @throws ApiError invalid_value for content that is not text
 *
 * Spec: §4.3.
 * Choice: a null field is as absent; temperature, top_p and repetition_penalty default to 1, top_k and
 * min_p to off. A seed counts by its 64-bit value, so any whole number is a seed of its own.
 */
export function planCompletion(
  request: ChatCompletionRequest,
  drawSeed: () => bigint,
): CompletionPlan {
  const { seed, stop } = request
  const bias = Object.entries(request.logit_bias ?? {}).map(([id, value]) => [Number(id), value])
  const allowed = request.allowed_token_ids ?? null
  const wantsLogprobs = request.logprobs ?? CHAT_DEFAULTS.logprobs
  return {
    messages: request.messages.map(readMessage),
    addGenerationPrompt: request.add_generation_prompt ?? CHAT_DEFAULTS.add_generation_prompt,
    tokensMax: request.max_completion_tokens ?? request.max_tokens ?? null,
    choices: request.n ?? CHAT_DEFAULTS.n,
    seed: seed === undefined || seed === null ? drawSeed() : BigInt.asUintN(64, BigInt(seed)),
    sampling: {
      temperature: request.temperature ?? 1,
      topK: request.top_k ?? 0,
      topP: request.top_p ?? 1,
      minP: request.min_p ?? 0,
      repetitionPenalty: request.repetition_penalty ?? 1,
      frequencyPenalty: request.frequency_penalty ?? CHAT_DEFAULTS.frequency_penalty,
      presencePenalty: request.presence_penalty ?? CHAT_DEFAULTS.presence_penalty,
      logitBias: new Map(bias as [number, number][]),
      allowedIds: allowed === null ? null : new Set(allowed),
      minTokens: request.min_tokens ?? CHAT_DEFAULTS.min_tokens,
      topLogprobs: wantsLogprobs ? (request.top_logprobs ?? CHAT_DEFAULTS.top_logprobs) : null,
    },
    stopIds: [...new Set(request.stop_token_ids ?? [])],
    stops: typeof stop === 'string' ? [stop] : (stop ?? []),
    isStopIncluded: request.include_stop_str_in_output ?? CHAT_DEFAULTS.include_stop_str_in_output,
    isEosIgnored: request.ignore_eos ?? CHAT_DEFAULTS.ignore_eos,
  }
}

/**
 * A message as the template sees it.
 *
 * Spec: §2.10.
 * Choice: text parts are joined as they are; a refusal stands for missing content; the deprecated
 * function_call is shown as a tool call.
 */
function readMessage(message: Message, index: number): PromptMessage {
  const path = `messages[${index}]`
  if (message.audio !== undefined && message.audio !== null) throw notText(`${path}.audio`)
  const { name, tool_call_id, function_call } = message
  const called = function_call ? [{ type: 'function', function: function_call }] : []
  const calls = [...(message.tool_calls ?? []), ...called]
  return {
    role: message.role,
    content: readContent(message.content ?? message.refusal ?? '', `${path}.content`),
    ...(name ? { name } : {}),
    ...(tool_call_id ? { tool_call_id } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function readContent(content: NonNullable<Message['content']>, path: string): string {
  if (typeof content === 'string') return content
  const texts = content.map((part, index) => {
    if (typeof part === 'string') return part
    const isText = part.type === 'text' && typeof part.text === 'string'
    if (!isText) throw notText(`${path}[${index}]`)
    return part.text
  })
  return texts.join('')
}

function notText(param: string): ApiError {
  return new ApiError('invalid_value', { message: 'The model reads text only.', param })
}
