/**
 * Reads a chat request into the plan of one generation: every default filled in, ready to be sent
 * to the engine's process. It knows no vocabulary; ids are checked where the model is.
 */
import type { FunctionTool } from '../../../domain/chat/field-rules.ts'
import { splitMembers } from '../../../domain/json/json-members.ts'
import { refuse } from '../../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import type { ReasoningEffort } from '../../../schemas/chat/chat-tool-fields.ts'
import { listCallable, planCalls } from '../constraints/call-plan.ts'
import { type Constraint, planConstraint } from '../constraints/constraint-plan.ts'
import type { PlainPrompt } from '../text/plain-prompt.ts'
import { type PromptRequest, planPrompt } from '../text/prompt-plan.ts'
import type { SpecialTokens } from '../text/text-assembler.ts'
import { BEAMS_MAX } from './beam-search.ts'
import { GREEDY_TEMPERATURE, type SamplingParams } from './sampler.ts'

/** All that the engine needs for one request; plain data, since it goes to another process. */
export interface CompletionPlan {
  readonly prompt: PromptRequest | PlainPrompt
  /** Tokens of each choice, 0 for an echo alone; null for all that the context leaves free. */
  readonly tokensMax: number | null
  /** Choices, 1 or more. */
  readonly choices: number
  readonly seed: bigint
  readonly sampling: Omit<SamplingParams, 'endIds' | 'badWords'>
  readonly badWords: readonly string[]
  /** Ids that end a choice beside the model's own. */
  readonly stopIds: readonly number[]
  readonly stops: readonly string[]
  readonly isStopIncluded: boolean
  readonly isEosIgnored: boolean
  readonly special: SpecialTokens
  /** Whether tokens are named `token_id:<id>` in log-probabilities. */
  readonly areTokensIds: boolean
  readonly areIdsReturned: boolean
  /** Alternatives of each prompt token, -1 for all, null for no prompt log-probabilities. */
  readonly promptLogprobs: number | null
  /** The scripted part before the answer, or null for none. */
  readonly reasoning: { readonly effort: ReasoningEffort; readonly isShown: boolean } | null
  /** Whether a `<think>` part that opens the answer is its reasoning, and shown; null leaves it in the text. */
  readonly thought: { readonly isShown: boolean } | null
  /** Exponent of the lengths that beams are compared by; null where tokens are drawn. */
  readonly lengthPenalty: number | null
  /** The form that the answer must have, or null for free text. */
  readonly constraint: Constraint | null
  /** Names the request in the ids of its tool calls; null where its text is not looked through for calls. */
  readonly calls: { readonly seed: string } | null
  /** Lower is handled earlier. */
  readonly priority: number
  /** File of the adapter to add to the model's weights; null for the base model. */
  readonly adapterPath: string | null
}

/** The plan of a chat. */
export interface ChatPlan extends CompletionPlan {
  readonly prompt: PromptRequest
}

/** What a plan needs beside the request. */
interface PlanContext {
  /** Whether the model is served as one that calls tools. Default true. */
  readonly callsTools?: boolean
  /** Id of the request, which the ids of its tool calls come from. Default empty. */
  readonly requestId?: string
}

/** Least temperature above 0. */
const TEMPERATURE_MIN = 0.01

/**
 * The plan of a request.
 *
 * @param body - the text of the request, for the digits of its seed; may be empty
 * @param drawSeed - entropy for a request without a seed
 * @throws ApiError invalid_value for a prompt that cannot be made
 *
 * Spec: §4.3.
 * Choice: a null field is as absent; temperature, top_p and repetition_penalty default to 1, top_k and
 * min_p to off. Temperatures from 0.00001 up are at least 0.01, as in vLLM.
 */
export function planCompletion(
  request: ChatCompletionRequest,
  body: string,
  drawSeed: () => bigint,
  { callsTools = true, requestId = '' }: PlanContext = {},
): ChatPlan {
  const callable = listCallable(request, callsTools)
  const { stop } = request
  const bias = Object.entries(request.logit_bias ?? {}).map(([id, value]) => [Number(id), value])
  const allowed = request.allowed_token_ids ?? null
  const wantsLogprobs = request.logprobs ?? CHAT_DEFAULTS.logprobs
  return {
    prompt: planPrompt(request, callable),
    tokensMax: request.max_completion_tokens ?? request.max_tokens ?? null,
    choices: request.n ?? CHAT_DEFAULTS.n,
    seed: readSeed(request, body) ?? drawSeed(),
    sampling: {
      temperature: resolveTemperature(request.temperature ?? 1),
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
    badWords: request.bad_words ?? [],
    stopIds: [...new Set(request.stop_token_ids ?? [])],
    stops: typeof stop === 'string' ? [stop] : (stop ?? []),
    isStopIncluded: request.include_stop_str_in_output ?? CHAT_DEFAULTS.include_stop_str_in_output,
    isEosIgnored: request.ignore_eos ?? CHAT_DEFAULTS.ignore_eos,
    special: {
      areSkipped: request.skip_special_tokens ?? CHAT_DEFAULTS.skip_special_tokens,
      areSpaced:
        request.spaces_between_special_tokens ?? CHAT_DEFAULTS.spaces_between_special_tokens,
    },
    areTokensIds: request.return_tokens_as_token_ids ?? false,
    areIdsReturned: request.return_token_ids ?? false,
    promptLogprobs: resolvePromptLogprobs(request),
    ...resolveReasoning(request),
    lengthPenalty: resolveLengthPenalty(request),
    constraint: resolveConstraint(request, callable),
    calls: callable.length === 0 ? null : { seed: requestId },
    priority: request.priority ?? CHAT_DEFAULTS.priority,
    adapterPath: null,
  }
}

/**
 * Returns the seed with all 64 bits, or null.
 *
 * Spec: §4.3 seed.
 * Choice: the digits of the body count, since a parsed number would be rounded; any whole number is
 * taken modulo 2^64.
 */
function readSeed({ seed }: ChatCompletionRequest, body: string): bigint | null {
  if (seed === undefined || seed === null) return null
  const digits = splitMembers(body).get('seed') ?? ''
  return BigInt.asUintN(64, BigInt(/^-?\d{1,20}$/.test(digits) ? digits : seed))
}

function resolveTemperature(temperature: number): number {
  return temperature < GREEDY_TEMPERATURE ? 0 : Math.max(temperature, TEMPERATURE_MIN)
}

/**
 * Spec: §4.3 reasoning_effort, include_reasoning, chat_template_kwargs.
 * Choice: with `enable_thinking` among the template's variables, as the templates of reasoning models have
 * it, the model writes its thought itself, and there is no script.
 */
function resolveReasoning(
  request: ChatCompletionRequest,
): Pick<CompletionPlan, 'reasoning' | 'thought'> {
  const { reasoning_effort: effort, chat_template_kwargs: variables } = request
  const isShown = request.include_reasoning ?? CHAT_DEFAULTS.include_reasoning
  if (variables?.enable_thinking === true) return { reasoning: null, thought: { isShown } }
  const hasScript = effort !== undefined && effort !== null
  return { reasoning: hasScript ? { effort, isShown } : null, thought: null }
}

/**
 * Spec: §4.3 structured_outputs, use_beam_search.
 * Choice: beams are not constrained, so they cannot call tools; asking for both is an error.
 */
function resolveConstraint(
  request: ChatCompletionRequest,
  callable: readonly FunctionTool[],
): Constraint | null {
  const own = planConstraint(request)
  const constraint = callable.length === 0 ? own : planCalls(request, callable, own)
  if (constraint === null || request.use_beam_search !== true) return constraint
  const message = `use_beam_search cannot be combined with ${constraint.param}.`
  refuse('invalid_value', 'use_beam_search', message)
}

/** @throws ApiError invalid_value for too many beams */
function resolveLengthPenalty(request: ChatCompletionRequest): number | null {
  const { use_beam_search: isSearched, length_penalty: penalty } = request
  if (isSearched !== true) return null
  if ((request.n ?? CHAT_DEFAULTS.n) > BEAMS_MAX) {
    const message = `n must be at most ${BEAMS_MAX} with use_beam_search: it is the number of beams.`
    refuse('invalid_value', 'n', message)
  }
  return penalty ?? CHAT_DEFAULTS.length_penalty
}

/**
 * Spec: §4.3 prompt_logprobs, echo.
 * Choice: with echo the prompt's log-probabilities come with as many alternatives as the answer's, as
 * in vLLM, if the answer has any and is not streamed.
 */
function resolvePromptLogprobs(request: ChatCompletionRequest): number | null {
  const { prompt_logprobs: count, echo, stream, logprobs } = request
  if (count !== undefined && count !== null) return stream === true ? null : count
  if (echo !== true || stream === true || logprobs !== true) return null
  return request.top_logprobs ?? CHAT_DEFAULTS.top_logprobs
}
