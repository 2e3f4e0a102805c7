/** Reads a legacy completion into plans, one for each prompt. It knows no vocabulary. */
import { refuse } from '../../../errors.ts'
import type { TextCompletionRequest } from '../../../schemas/chat/services/text-completion.ts'
import type { ServiceCallOf } from '../../backend.ts'
import { type CompletionPlan, planCompletion } from '../sampling/completion-plan.ts'

/** Default of `max_tokens`. */
const TEXT_TOKENS_MAX = 16
/** Limit: choices of all prompts, those that are left out by `best_of` too. */
const CHOICES_MAX = 2_048

export interface TextPlan {
  readonly prompts: readonly TextPrompt[]
  /** Answered choices of each prompt. */
  readonly choices: number
  /** How many choices are generated; the best of them are returned. */
  readonly tried: number
  /** Likeliest tokens at each place, or null for no log-probabilities. */
  readonly logprobs: number | null
  readonly isEchoed: boolean
  readonly isStream: boolean
  readonly includesUsage: boolean
}

interface TextPrompt {
  readonly plain: string | readonly number[]
  /** As `prompt[2]`. */
  readonly param: string
}

/**
 * Reads what holds for all prompts. Rules between fields are those of the OpenAI API.
 *
 * @throws ApiError invalid_value
 */
export function planText(request: TextCompletionRequest): TextPlan {
  const choices = request.n ?? 1
  const tried = request.best_of ?? choices
  const isStream = request.stream === true
  const isEchoed = request.echo === true
  const prompts = listPrompts(request.prompt, 'prompt')
  if (tried < choices) refuse('invalid_value', 'best_of', 'best_of must not be less than n.')
  if (tried > choices && isStream)
    refuse('invalid_value', 'best_of', 'best_of cannot be streamed: send n.')
  if (request.max_tokens === 0 && !isEchoed) {
    refuse('invalid_value', 'max_tokens', 'max_tokens must be 1 or more without echo.')
  }
  if (tried * prompts.length > CHOICES_MAX) {
    refuse(
      'invalid_value',
      'prompt',
      `All prompts together may have ${CHOICES_MAX} choices at the most.`,
    )
  }
  return {
    prompts,
    choices,
    tried,
    logprobs: request.logprobs ?? null,
    isEchoed,
    isStream,
    includesUsage: request.stream_options?.include_usage === true,
  }
}

/** A list of ids is one text. */
export function listPrompts(
  prompt: TextCompletionRequest['prompt'],
  param: string,
): readonly TextPrompt[] {
  if (typeof prompt === 'string') return [{ plain: prompt, param }]
  if (isIds(prompt)) return [{ plain: prompt, param }]
  return prompt.map((plain, index) => ({ plain, param: `${param}[${index}]` }))
}

function isIds(prompt: readonly unknown[]): prompt is number[] {
  return typeof prompt[0] === 'number'
}

/**
 * The plan of one prompt.
 *
 * @param plain - the prompt's ids where its own log-probabilities are wanted
 */
export function planTextPrompt(
  call: ServiceCallOf<'completions'>,
  { tried, choices, logprobs, isEchoed }: TextPlan,
  { plain, param }: TextPrompt,
  drawSeed: () => bigint,
): CompletionPlan {
  const { temperature, top_p, frequency_penalty, presence_penalty, logit_bias, seed, stop } =
    call.request
  const sampling = { temperature, top_p, frequency_penalty, presence_penalty, logit_bias }
  const chat = { messages: [], ...sampling, seed, stop, n: tried }
  const plan = planCompletion(chat, call.body, drawSeed)
  const isJudged = isEchoed && logprobs !== null
  return {
    ...plan,
    prompt: { plain, param, isEchoed, addSpecialTokens: false },
    tokensMax: call.request.max_tokens ?? TEXT_TOKENS_MAX,
    sampling: { ...plan.sampling, topLogprobs: logprobs ?? (tried > choices ? 0 : null) },
    promptLogprobs: isJudged ? logprobs : null,
  }
}
