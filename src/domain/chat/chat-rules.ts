/**
 * Rules between the fields of a chat request, and between a field and what a model can do. Pure: a request passes or
 * one ApiError names the field. A message must never repeat prompt text.
 */

import { refuse } from '../../errors.ts'
import { CHAT_DEFAULTS, ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { ReasoningEffort } from '../../schemas/chat/chat-tool-fields.ts'
import {
  requireKnownToolChoice,
  requireKnownTools,
  requireValidConstraints,
} from './field-rules.ts'

/** Abilities of a model beyond those that every model has. */
export interface ChatCapabilities {
  /** Calls tools: tool_choice may be auto, required or a named function. */
  readonly tools: boolean
  /** Takes tools of other types than function, and a tool_choice of other types. */
  readonly otherTools?: boolean
  readonly prioritySchedulingEnabled: boolean
  /** Efforts besides low, medium and high. */
  readonly reasoningEfforts?: readonly ReasoningEffort[]
  /** top_logprobs and prompt_logprobs may be -1, the whole vocabulary. */
  readonly fullLogprobs?: boolean
  /** Runs logits_processors. */
  readonly logitsProcessors?: boolean
}

/**
 * The treatment of one request field by a backend. `ignored`: leaving it out makes no difference that a client
 * could notice. `dropped`: it is left out, and a header of the response names it. `rejected`: the request is
 * refused.
 */
export type FieldUse = 'honoured' | 'forwarded' | 'ignored' | 'dropped' | 'rejected'

/** A record over all request fields: a new field does not compile until each backend has decided on it. */
export type FieldSupport = Readonly<Record<keyof ChatCompletionRequest, FieldUse>>

type Rule = (request: ChatCompletionRequest, capabilities: ChatCapabilities) => void

/** Limit: temperature below which the sampler takes the likeliest token. */
const GREEDY_TEMPERATURE = 1e-5
const SPEC_EFFORTS: readonly ReasoningEffort[] = ['low', 'medium', 'high']

/**
 * Lets a parsed request pass or throws for the first rule that it breaks.
 *
 * @throws ApiError invalid_value, missing_required_parameter, unsupported_value,
 * unsupported_parameter, priority_unsupported; `param` is the dotted path of the field
 *
 * Spec: §4.3, §7.
 * Choice: rules that the spec leaves open are those of common engines.
 */
export function requireValidChatRequest(
  request: ChatCompletionRequest,
  capabilities: ChatCapabilities,
): void {
  for (const rule of RULES) rule(request, capabilities)
}

const RULES: readonly Rule[] = [
  requireOneWayToOpenTheTurn,
  requireLogprobsForTopLogprobs,
  requirePromptLogprobsWithoutStream,
  requireStreamForStreamOptions,
  requireRoomForMinTokens,
  requireOneChoiceWhenGreedy,
  requireIdleBestOf,
  requireKnownTools,
  requireKnownToolChoice,
  requireValidConstraints,
  requireKnownReasoningEffort,
  requirePriorityScheduling,
  requireLogitsProcessorSupport,
]

/**
 * Whether the template opens the assistant's turn.
 *
 * Spec: §4.3 add_generation_prompt (default true), continue_final_message.
 * Choice: continue_final_message alone turns the generation prompt off.
 */
export function resolveAddGenerationPrompt(request: ChatCompletionRequest): boolean {
  return request.add_generation_prompt ?? request.continue_final_message !== true
}

/**
 * Returns how tools are used once defaults are filled in.
 *
 * Spec: §4.3 tool_choice (default none, the only allowed value).
 * Choice: a model that calls tools gets auto when tools are given and nothing is chosen, as client
 * libraries expect; no other model does.
 */
export function resolveToolChoice(
  request: ChatCompletionRequest,
  capabilities: Pick<ChatCapabilities, 'tools'>,
): NonNullable<ChatCompletionRequest['tool_choice']> {
  const isAuto = capabilities.tools && (request.tools?.length ?? 0) > 0
  return request.tool_choice ?? (isAuto ? 'auto' : CHAT_DEFAULTS.tool_choice)
}

/** Values that request nothing, of fields without a documented default. */
const NEUTRAL_VALUES: { readonly [K in keyof ChatCompletionRequest]?: readonly unknown[] } = {
  top_p: [1],
  top_k: [-1, 0],
  min_p: [0],
  repetition_penalty: [1],
  return_tokens_as_token_ids: [false],
  return_token_ids: [false],
}

/**
 * Finds the first field that a request uses and a backend rejects; null when there is none.
 *
 * @param fields - what the backend does with each field
 *
 * Spec: §4.3 (defaults).
 * Choice: null, the documented default, an empty list or object, and values that ask for nothing
 * (top_k -1, response_format text) do not count as used, because client libraries send them.
 */
export function findUnsupportedField(
  request: ChatCompletionRequest,
  fields: FieldSupport,
): keyof ChatCompletionRequest | null {
  return findUsedFields(request, fields, 'rejected')[0] ?? null
}

/** The fields that a request uses and a backend drops, by the same reading of "uses". */
export function findDroppedFields(
  request: ChatCompletionRequest,
  fields: FieldSupport,
): readonly (keyof ChatCompletionRequest)[] {
  return findUsedFields(request, fields, 'dropped')
}

/** Names by use, so that the table is gone through once and not for each request. */
const NAMES_BY_USE = new WeakMap<FieldSupport, Map<FieldUse, (keyof ChatCompletionRequest)[]>>()

function findUsedFields(
  request: ChatCompletionRequest,
  fields: FieldSupport,
  use: FieldUse,
): (keyof ChatCompletionRequest)[] {
  let byUse = NAMES_BY_USE.get(fields)
  if (byUse === undefined) {
    const names = Object.keys(fields) as (keyof ChatCompletionRequest)[]
    byUse = Map.groupBy(names, (name) => fields[name])
    NAMES_BY_USE.set(fields, byUse)
  }
  return (byUse.get(use) ?? []).filter((name) => isUsed(request, name))
}

function isUsed(request: ChatCompletionRequest, name: keyof ChatCompletionRequest): boolean {
  const value = request[name]
  if (value === undefined || value === null) return false
  if (name === 'response_format' && request.response_format?.type === 'text') return false
  if (typeof value === 'object') return Object.keys(value).length > 0
  const defaults: Readonly<Record<string, unknown>> = CHAT_DEFAULTS
  return value !== defaults[name] && !NEUTRAL_VALUES[name]?.includes(value)
}

function requireOneWayToOpenTheTurn(request: ChatCompletionRequest): void {
  if (request.continue_final_message !== true || request.add_generation_prompt !== true) return
  refuse(
    'invalid_value',
    'continue_final_message',
    'continue_final_message and add_generation_prompt cannot both be true.',
  )
}

function requireLogprobsForTopLogprobs(
  request: ChatCompletionRequest,
  { fullLogprobs = false }: ChatCapabilities,
): void {
  const count = request.top_logprobs ?? CHAT_DEFAULTS.top_logprobs
  if (count === -1 && !fullLogprobs) refuseFullLogprobs('top_logprobs')
  if (count === 0 || request.logprobs === true) return
  refuse('invalid_value', 'top_logprobs', `top_logprobs ${count} needs logprobs to be true.`)
}

function requirePromptLogprobsWithoutStream(
  request: ChatCompletionRequest,
  { fullLogprobs = false }: ChatCapabilities,
): void {
  const count = request.prompt_logprobs ?? 0
  if (count === -1 && !fullLogprobs) refuseFullLogprobs('prompt_logprobs')
  if (count === 0 || request.stream !== true) return
  refuse(
    'invalid_value',
    'prompt_logprobs',
    `prompt_logprobs ${count} cannot be combined with stream true.`,
  )
}

function refuseFullLogprobs(param: 'top_logprobs' | 'prompt_logprobs'): never {
  refuse('unsupported_value', param, `${param} -1 is not supported by the model; send 0 to 20.`)
}

function requireStreamForStreamOptions(request: ChatCompletionRequest): void {
  const options = Object.values(request.stream_options ?? {})
  const isEmpty = options.every((value) => value === null || value === undefined)
  if (isEmpty || request.stream === true) return
  refuse('invalid_value', 'stream_options', 'stream_options needs stream to be true.')
}

function requireRoomForMinTokens(request: ChatCompletionRequest): void {
  const min = request.min_tokens ?? CHAT_DEFAULTS.min_tokens
  // max_completion_tokens wins, max_tokens is its deprecated name.
  const max = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY
  if (min <= max) return
  refuse('invalid_value', 'min_tokens', `min_tokens ${min} is more than the ${max} tokens allowed.`)
}

function requireOneChoiceWhenGreedy(request: ChatCompletionRequest): void {
  const count = request.n ?? CHAT_DEFAULTS.n
  const { temperature } = request
  // A beam search returns its n best beams, whatever the temperature.
  if (count === 1 || request.use_beam_search === true) return
  if (temperature === undefined || temperature === null) return
  if (temperature >= GREEDY_TEMPERATURE) return
  refuse(
    'invalid_value',
    'n',
    `n must be 1 when temperature is ${temperature}, not ${count}: all choices would be equal.`,
  )
}

/** best_of is no field of the spec; clients of older engines still send it. */
function requireIdleBestOf(request: ChatCompletionRequest): void {
  const extra: Readonly<Record<string, unknown>> = request
  const bestOf = extra.best_of
  if (bestOf === undefined || bestOf === null || bestOf === 1) return
  if (bestOf === (request.n ?? CHAT_DEFAULTS.n)) return
  refuse('unsupported_value', 'best_of', 'best_of must be 1 or equal to n.')
}

function requireKnownReasoningEffort(
  request: ChatCompletionRequest,
  { reasoningEfforts = [] }: ChatCapabilities,
): void {
  const effort = request.reasoning_effort
  if (effort === undefined || effort === null) return
  const allowed = [...new Set([...SPEC_EFFORTS, ...reasoningEfforts])]
  if (allowed.includes(effort)) return
  refuse(
    'unsupported_value',
    'reasoning_effort',
    `reasoning_effort must be one of ${allowed.join(', ')}, not ${effort}.`,
  )
}

function requirePriorityScheduling(
  request: ChatCompletionRequest,
  { prioritySchedulingEnabled }: ChatCapabilities,
): void {
  const priority = request.priority ?? CHAT_DEFAULTS.priority
  if (priority === 0 || prioritySchedulingEnabled) return
  refuse(
    'priority_unsupported',
    'priority',
    `priority must be 0, not ${priority}: the model is served without priority scheduling.`,
  )
}

function requireLogitsProcessorSupport(
  request: ChatCompletionRequest,
  { logitsProcessors = false }: ChatCapabilities,
): void {
  if (logitsProcessors || (request.logits_processors ?? []).length === 0) return
  refuse(
    'unsupported_parameter',
    'logits_processors',
    'logits_processors are not run by the model; leave them out.',
  )
}

/** Limits on the names in a response: how many, and characters of each. */
const UNKNOWN_NAMES_MAX = 16
const UNKNOWN_NAME_CHARS_MAX = 64

/**
 * Names of a request's fields that the schema does not have; null says nothing and is passed over.
 *
 * @param shape - of the schema. Default: that of chats
 */
export function findUnknownFields(
  request: Readonly<Record<string, unknown>>,
  shape: object = ChatCompletionRequest.shape,
): readonly string[] {
  return Object.entries(request)
    .filter(([name, value]) => value !== null && !Object.hasOwn(shape, name))
    .slice(0, UNKNOWN_NAMES_MAX)
    .map(([name]) => name.slice(0, UNKNOWN_NAME_CHARS_MAX))
}
