/** Collects the deltas of a backend into one whole completion. The completion of an upstream passes unchanged. */
import { resolveAddGenerationPrompt } from '../../domain/chat/chat-rules.ts'
import { ApiError } from '../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type {
  ChatChoice,
  ChatCompletionResponse,
  ChatToolCall,
  ChatUsage,
} from '../../schemas/chat/chat-response.ts'
import type { ChoiceDelta, Delta, PromptDelta, TokenLogprob, ToolCallChunk } from '../backend.ts'

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

interface CollectedChoice {
  content: string
  reasoning: string | null
  calls: ChatToolCall[]
  tokenIds: number[] | null
  logprobs: TokenLogprob[] | null
  finish_reason: string | null
  stop_reason: number | string | null
}

interface Collector {
  add(delta: Delta): void
  /**
   * Returns the JSON text of the answer, its choices ordered by index.
   *
   * @throws ApiError internal_error when a choice has no end
   */
  render(): string
}

/**
 * Collects one answer.
 *
 * Spec: §4.3 response, choice, message, usage.
 */
export function createCollector(envelope: ResponseEnvelope): Collector {
  let choices: Map<number, CollectedChoice> | null = null
  let relayed: string | null = null
  let prompt: PromptDelta | null = null
  let tokenCount = 0
  return {
    add(delta) {
      if (delta.type === 'relayed') {
        relayed = delta.texts[0]?.json ?? null
      } else if (delta.type === 'prompt') {
        prompt = delta
      } else if (delta.type === 'choice') {
        tokenCount += delta.tokenCount
        choices ??= new Map()
        addDelta(choices, delta)
      }
    },
    render: () => relayed ?? renderAnswer(envelope, choices ?? new Map(), prompt, tokenCount),
  }
}

function renderAnswer(
  envelope: ResponseEnvelope,
  choices: ReadonlyMap<number, CollectedChoice>,
  prompt: PromptDelta | null,
  tokenCount: number,
): string {
  const finished = [...choices.values()].filter((parts) => parts.finish_reason !== null)
  requireAllFinished(finished.length, envelope)
  const answer: ChatCompletionResponse = {
    id: envelope.id,
    object: 'chat.completion',
    created: envelope.created,
    model: envelope.model,
    choices: [...choices].sort(([left], [right]) => left - right).map(toChoice(envelope.role)),
    usage: renderUsage(prompt, tokenCount),
    ...renderPrompt(prompt),
  }
  return JSON.stringify(answer)
}

/** Spec: §4.3 prompt_token_ids, prompt_logprobs of the response. */
function renderPrompt(
  prompt: PromptDelta | null,
): Pick<ChatCompletionResponse, 'prompt_token_ids' | 'prompt_logprobs'> {
  const { promptIds, promptLogprobs } = prompt ?? {}
  return {
    ...(promptIds ? { prompt_token_ids: [...promptIds] } : {}),
    ...(promptLogprobs ? { prompt_logprobs: [...promptLogprobs] } : {}),
  }
}

function addDelta(choices: Map<number, CollectedChoice>, delta: ChoiceDelta): void {
  const parts = choices.get(delta.index) ?? {
    content: '',
    reasoning: null,
    calls: [],
    tokenIds: null,
    logprobs: null,
    finish_reason: null,
    stop_reason: null,
  }
  parts.content += delta.content
  if (delta.reasoning !== undefined) parts.reasoning = (parts.reasoning ?? '') + delta.reasoning
  for (const piece of delta.toolCalls ?? []) addCall(parts.calls, piece)
  if (delta.tokenIds !== undefined) {
    parts.tokenIds ??= []
    parts.tokenIds.push(...delta.tokenIds)
  }
  if (delta.logprobs !== null) {
    parts.logprobs ??= []
    parts.logprobs.push(...delta.logprobs)
  }
  parts.finish_reason ??= delta.finish_reason
  parts.stop_reason ??= delta.stop_reason
  choices.set(delta.index, parts)
}

function addCall(calls: ChatToolCall[], piece: ToolCallChunk) {
  const { index, id = '', name = '', arguments: text } = piece
  const known = calls[index]
  if (known) known.function.arguments += text
  else calls[index] = { id, type: 'function', function: { name, arguments: text } }
}

/** Spec: §4.3 message tool_calls. Choice: the content of an answer with calls and no text is null. */
function renderMessage(role: string, { content, reasoning, calls }: CollectedChoice) {
  const isCall = calls.length > 0
  return {
    role,
    content: isCall && content === '' ? null : content,
    refusal: null,
    ...renderReasoning(reasoning),
    ...(isCall ? { tool_calls: calls } : {}),
  }
}

function toChoice(role: string) {
  return ([index, parts]: [number, CollectedChoice]): ChatChoice => ({
    index,
    message: renderMessage(role, parts),
    logprobs: parts.logprobs === null ? null : { content: toWritable(parts.logprobs) },
    finish_reason: parts.finish_reason,
    stop_reason: parts.stop_reason,
    ...(parts.tokenIds === null ? {} : { token_ids: parts.tokenIds }),
  })
}

/** Spec: §4.3 message reasoning, reasoning_content. Choice: both carry the same text. */
export function renderReasoning(
  reasoning: string | null | undefined,
): { reasoning: string; reasoning_content: string } | Record<string, never> {
  if (reasoning === null || reasoning === undefined) return {}
  return { reasoning, reasoning_content: reasoning }
}

type LogprobEntries = NonNullable<NonNullable<ChatChoice['logprobs']>['content']>

/** Returns the same entries typed as in the schema, which is not read-only. */
export function toWritable(entries: readonly TokenLogprob[]): LogprobEntries {
  return entries as unknown as LogprobEntries
}
