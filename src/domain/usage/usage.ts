/** Reads the tokens by model from a call's `summary.usage`. Pure. */
import { ApiError } from '../../errors.ts'
import { isObject } from '../json/is-object.ts'

/** Limit: models in one summary. */
const USAGE_MODELS_MAX = 100
const MODEL_NAME_MAX = 256

/** Tokens of one model in one call; whole numbers >= 0. */
export interface ModelUsage {
  readonly model: string
  /** As the client counts them: with cached tokens (OpenAI) or without (Anthropic). */
  readonly input_tokens: number
  /** Input tokens that no cache had; never below 0. */
  readonly uncached_input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
}

/** With its number of requests; 1 when the client does not report it. */
export interface CallUsage extends ModelUsage {
  readonly requests: number
  /** Whether the client reported them. */
  readonly tells_requests: boolean
}

type Counts = Readonly<Record<string, unknown>>

/**
 * Reads `summary.usage`. Prompt and input spellings are added up, so are completion and output.
 *
 * Spec: §2.5 summary (shape not shown). Choice: a total that is missing or null is input + output; any other value
 * that is no number >= 0 counts as 0; cached tokens lie inside `prompt_tokens` (OpenAI) and beside `input_tokens`
 * when they are spelled `cache_*_input_tokens` (Anthropic).
 *
 * @throws ApiError validation_failed for more than USAGE_MODELS_MAX models or a name over 256 characters
 */
export function readUsage(summary: unknown): CallUsage[] {
  const usage = isObject(summary) ? summary.usage : undefined
  if (!isObject(usage)) return []
  const entries = Object.entries(usage).filter((entry): entry is [string, Counts] =>
    isObject(entry[1]),
  )
  if (entries.length > USAGE_MODELS_MAX) {
    throw tooMuch(`must have at most ${USAGE_MODELS_MAX} models`)
  }
  return entries.map(([model, counts]) => {
    if (model.length > MODEL_NAME_MAX) {
      throw tooMuch(`has a model name of more than ${MODEL_NAME_MAX} characters`)
    }
    return readCounts(model, counts)
  })
}

function readCounts(model: string, counts: Counts): CallUsage {
  const prompt = whole(counts.prompt_tokens)
  const input = whole(counts.input_tokens)
  const output = whole(counts.completion_tokens) + whole(counts.output_tokens)
  const details = [counts.prompt_tokens_details, counts.input_tokens_details].find(isObject)
  const cachedInside = whole(details?.cached_tokens)
  const cacheRead = whole(counts.cache_read_input_tokens) || cachedInside
  const cacheCreation = whole(counts.cache_creation_input_tokens)
  const tells_requests = typeof counts.requests === 'number'
  const isBeside = prompt === 0 && cachedInside === 0
  const gross = prompt + input
  return {
    model,
    input_tokens: gross,
    uncached_input_tokens: isBeside ? gross : Math.max(0, gross - cacheRead - cacheCreation),
    output_tokens: output,
    total_tokens:
      (counts.total_tokens ?? null) === null ? gross + output : whole(counts.total_tokens),
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheCreation,
    requests: tells_requests ? whole(counts.requests) : 1,
    tells_requests,
  }
}

function whole(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return 0
  return Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
}

function tooMuch(rule: string): ApiError {
  return new ApiError('validation_failed', {
    message: `end.summary.usage ${rule}`,
    param: 'end.summary.usage',
  })
}
