/**
 * Converts a request for a response to a chat request. Pure. Every field is carried over, stored for the response,
 * or refused by name.
 */
import { refuse } from '../../../errors.ts'
import type { ChatMessage } from '../../../schemas/chat/chat-message.ts'
import { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import { ResponseCreateRequest } from '../../../schemas/chat/responses/responses-request.ts'
import { findUnknownFields } from '../chat-rules.ts'
import {
  type ChatDraft,
  carryOver,
  type FrontFieldUse,
  findRefusedFields,
  isNeutral,
} from '../front-fields.ts'
import type { ResponseTools } from './responses-tools.ts'

/** Total over the fields, so that a new one does not compile until it is decided. */
const RESPONSE_FIELDS: Readonly<Record<keyof ResponseCreateRequest, FrontFieldUse>> = {
  input: 'translated',
  model: { as: 'model' },
  instructions: 'translated',
  previous_response_id: 'translated',
  store: 'kept',
  stream: 'translated',
  // Why: it only says that no padding is wanted, and there is none.
  stream_options: 'kept',
  include: 'translated',
  max_output_tokens: { as: 'max_completion_tokens' },
  temperature: { as: 'temperature' },
  top_p: { as: 'top_p' },
  top_logprobs: 'translated',
  text: 'translated',
  reasoning: 'translated',
  tools: 'translated',
  tool_choice: 'translated',
  parallel_tool_calls: { as: 'parallel_tool_calls' },
  // Why: it counts calls of tools that the server runs, and it runs none.
  max_tool_calls: 'kept',
  metadata: 'kept',
  user: { as: 'user' },
  safety_identifier: { as: 'safety_identifier' },
  service_tier: { as: 'service_tier' },
  prompt_cache_key: { as: 'prompt_cache_key' },
  prompt_cache_retention: { as: 'prompt_cache_retention' },
  prompt_cache_options: { as: 'prompt_cache_options' },
  // Why: it is for the service of the vendor, and agents send it with each request.
  client_metadata: 'kept',
  truncation: { refusal: 'items are never left out to make room', allowed: 'disabled' },
  background: { refusal: 'an answer is made while its client waits; use stream', allowed: false },
  conversation: { refusal: 'go on from a response by previous_response_id' },
  prompt: { refusal: 'there are no stored prompts; send instructions and input' },
  context_management: { refusal: 'nothing is compacted' },
  moderation: { refusal: 'nothing is moderated' },
  access_programs: { refusal: 'there are none' },
  image: { refusal: 'images pass as they are' },
}

/** Fields of a chat that a response has under another name or in another form. */
const CHAT_ONLY: Readonly<Record<string, string>> = {
  messages: 'input',
  n: 'one answer a response',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  logprobs: 'include',
}

/**
 * Refuses unsupported fields by name.
 *
 * @throws ApiError unsupported_parameter, missing_required_parameter
 */
export function requireSupportedFields(request: ResponseCreateRequest): void {
  refuseFields(request, Object.keys(RESPONSE_FIELDS))
  requireInput(request)
}

/**
 * Refuses what an engine that makes responses itself is not asked for: nothing is kept there.
 *
 * @throws ApiError unsupported_parameter, missing_required_parameter
 */
export function requirePassableFields(request: ResponseCreateRequest): void {
  refuseFields(request, ['background', 'conversation'])
  if (isNeutral(request.prompt)) requireInput(request)
}

/** Refuses those of the fields that are not supported, and fields of a chat. */
function refuseFields(values: Readonly<Record<string, unknown>>, params: readonly string[]): void {
  const [refused] = findRefusedFields(RESPONSE_FIELDS, values, params)
  if (refused !== undefined) refuse('unsupported_parameter', refused.param, refused.message)
  for (const [param, instead] of Object.entries(CHAT_ONLY)) {
    if (isNeutral(values[param])) continue
    const message = `${param} is a field of chat completions; here it is ${instead}.`
    refuse('unsupported_parameter', param, message)
  }
}

function requireInput({ input }: ResponseCreateRequest): void {
  if (input !== undefined && input !== null) return
  refuse('missing_required_parameter', 'input', 'input is required')
}

/**
 * The chat of a supported request.
 *
 * @param messages - of the responses before it and of its input
 * @param passesUnknown - whether the backend gets fields that nobody knows here
 * @throws ApiError unsupported_value, missing_required_parameter
 */
export function toChatDraft(
  request: ResponseCreateRequest,
  messages: readonly ChatMessage[],
  tools: ResponseTools,
  passesUnknown: boolean,
): ChatDraft {
  const { instructions } = request
  const opening = instructions ? [{ role: 'system', content: instructions }] : []
  return {
    ...listOthers(request, passesUnknown),
    ...carryOver(RESPONSE_FIELDS, request),
    messages: [...opening, ...messages],
    ...toLogprobs(request),
    ...toFormat(request),
    ...toTools(request, tools),
    ...(request.reasoning?.effort ? { reasoning_effort: request.reasoning.effort } : {}),
    ...(request.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

/**
 * Returns the names of the fields that neither responses nor chats have.
 *
 * Spec: §4 (responses are an addition).
 * Choice: a field that nobody knows here may be one of responses, so that it is not sent with a chat.
 */
export function findUnknownResponseFields(request: ResponseCreateRequest): readonly string[] {
  return findUnknownFields(request, KNOWN_FIELDS)
}

const KNOWN_FIELDS = { ...ChatCompletionRequest.shape, ...ResponseCreateRequest.shape }

/** Returns the fields that responses do not have: those of chats, and unknown ones if they are passed. */
function listOthers(
  request: ResponseCreateRequest,
  passesUnknown: boolean,
): Record<string, unknown> {
  const entries = Object.entries(request).filter(
    ([name, value]) =>
      !Object.hasOwn(ResponseCreateRequest.shape, name) &&
      (passesUnknown || Object.hasOwn(KNOWN_FIELDS, name)) &&
      !isNeutral(value),
  )
  return Object.fromEntries(entries)
}

function toLogprobs({ include, top_logprobs }: ResponseCreateRequest) {
  const isWanted = include?.includes('message.output_text.logprobs') || (top_logprobs ?? 0) > 0
  return isWanted ? { logprobs: true, ...(top_logprobs ? { top_logprobs } : {}) } : {}
}

function toFormat({ text }: ResponseCreateRequest): Record<string, unknown> {
  const verbosity = text?.verbosity ? { verbosity: text.verbosity } : {}
  const { format } = text ?? {}
  if (!format || format.type === 'text') return verbosity
  if (format.type === 'json_object') return { ...verbosity, response_format: { type: format.type } }
  const { type, ...json_schema } = format
  return { ...verbosity, response_format: { type, json_schema: withoutNulls(json_schema) } }
}

function toTools(
  { tool_choice }: ResponseCreateRequest,
  { functions: all, toChatName }: ResponseTools,
): Record<string, unknown> {
  if (all.length === 0 && !tool_choice) return {}
  const given = all.length === 0 ? {} : { tools: all }
  if (!tool_choice) return given
  // Without tools there is nothing to choose, and models that have none take no choice.
  if (tool_choice === 'auto' && all.length === 0) return {}
  if (typeof tool_choice === 'string') return { ...given, tool_choice }
  const { type, name, namespace, mode, tools: allowed } = tool_choice
  if (type === 'function' && name) {
    return { ...given, tool_choice: { type, function: { name: toChatName({ name, namespace }) } } }
  }
  if (type !== 'allowed_tools') {
    const message =
      'tool_choice must be none, auto, required, a function by its name, or allowed_tools.'
    refuse('unsupported_value', 'tool_choice', message)
  }
  const names = new Set(
    (allowed ?? []).map(({ name, namespace }) => name && toChatName({ name, namespace })),
  )
  const chosen = all.filter((tool) => names.has(tool.function.name))
  return { ...(chosen.length > 0 ? { tools: chosen } : {}), tool_choice: mode ?? 'auto' }
}

function withoutNulls(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isNeutral(value)))
}

/** Returns the field of a response request that corresponds to the path of a chat's field. */
export function toResponseParam(param: string): string {
  const [, head = '', rest = ''] = /^(\w+)(.*)$/s.exec(param) ?? []
  const known: Readonly<Record<string, string>> = {
    messages: 'input',
    max_completion_tokens: 'max_output_tokens',
    max_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning.effort',
    response_format: 'text.format',
    logprobs: 'include',
    stream_options: 'stream',
  }
  const name = known[head]
  // A tool's name and parameters lie in the tool itself.
  if (head === 'tools' || head === 'tool_choice') return param.replace('.function', '')
  if (name === undefined) return param
  return head === 'response_format' || head === 'messages' ? name : `${name}${rest}`
}
