/** The fields that all parts of one answer share. Pure: the caller passes the clock and the id. */
import { resolveAddGenerationPrompt } from '../../domain/chat/chat-rules.ts'
import { ApiError } from '../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { ChatUsage } from '../../schemas/chat/chat-response.ts'
import type { PromptDelta } from '../backend.ts'

export interface ResponseEnvelope {
  /** `chatcmpl-` and the request's id. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  /** The model name from the request. */
  readonly model: string
  /** Role of the speaker. */
  readonly role: string
  /** Number of choices that must finish. */
  readonly choiceCount: number
}

/**
 * Returns the envelope of the answer to a request.
 *
 * @param model - name to put in the answer: the requested one, or the id of the default model
 *
 * Spec: §4.3 request_id (returned in the response), n, add_generation_prompt.
 * Choice: without a generation prompt the model continues in the role of the last message.
 */
export function resolveResponseEnvelope(
  request: ChatCompletionRequest,
  { requestId, model, nowMs }: { requestId: string; model: string; nowMs: number },
): ResponseEnvelope {
  const lastRole = request.messages.at(-1)?.role
  const role = resolveAddGenerationPrompt(request) ? 'assistant' : (lastRole ?? 'assistant')
  return {
    id: `chatcmpl-${requestId}`,
    created: Math.floor(nowMs / 1000),
    model,
    role,
    choiceCount: request.n ?? CHAT_DEFAULTS.n,
  }
}

/** Tokens used so far. Spec: §4.3 usage. */
export function renderUsage(prompt: PromptDelta | null, completionTokens: number): ChatUsage {
  const promptTokens = prompt?.promptTokens ?? 0
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: { cached_tokens: prompt?.cachedTokens ?? 0 },
  }
}

/**
 * Throws if a backend ended an answer too early: it must not look complete.
 *
 * @throws ApiError internal_error
 */
export function requireAllFinished(finishedCount: number, { choiceCount }: ResponseEnvelope): void {
  if (finishedCount >= choiceCount) return
  const cause = new Error(`the backend ended with ${finishedCount} of ${choiceCount} choices`)
  throw new ApiError('internal_error', { cause })
}
