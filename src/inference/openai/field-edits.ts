/**
 * Edits of single fields for engines that expect them in another form. Each edit returns JSON texts, so a
 * client's digits are never parsed and printed again.
 */
import { splitItems } from '../../domain/json/json-members.ts'
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { STRUCTURED_OUTPUT_KINDS } from '../../schemas/chat/structured-outputs.ts'
import { editMembers, findMember } from './request.ts'

export type FieldName = keyof ChatCompletionRequest

/** The model at the upstream that receives the request. */
export interface TargetModel {
  /** Its name at the upstream. */
  readonly model: string
  /** Whether it may call tools. */
  readonly callsTools: boolean
}

/** The input of an edit. */
export interface FieldContext extends TargetModel {
  readonly request: ChatCompletionRequest
  /** Returns a field's value verbatim, as JSON text; undefined if it is absent or null. */
  textOf(name: FieldName): string | undefined
}

/**
 * Members to set (JSON text) or remove (null); other members stay unchanged.
 *
 * @throws ApiError unsupported_parameter, invalid_value for values that the engine cannot express
 */
export type FieldEdit = (
  context: FieldContext,
) => Readonly<Record<string, string | null | undefined>>

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

export const nameModel: FieldEdit = ({ request, model }) =>
  request.model === model ? {} : { model: JSON.stringify(model) }

/** Spec: §4.3 seed. Choice: 2^63, the double nearest to the largest seed, counts as that seed. */
export const clampSeed: FieldEdit = ({ textOf }) => {
  const text = textOf('seed')
  if (text === undefined) return {}
  const seed = /^-?\d+$/.test(text) ? BigInt(text) : BigInt(Math.trunc(Number(text)))
  if (seed > INT64_MAX) return { seed: String(INT64_MAX) }
  return seed < INT64_MIN ? { seed: String(INT64_MIN) } : {}
}

/** Spec: §4.3 truncate_prompt_tokens. Choice: a value above any context length means no truncation. */
export const withoutHugeTruncation: FieldEdit = ({ request }) => {
  const count = request.truncate_prompt_tokens
  return (count ?? 0) > Number.MAX_SAFE_INTEGER ? { truncate_prompt_tokens: null } : {}
}

export const withUsage: FieldEdit = ({ textOf, request }) =>
  request.stream === true && request.stream_options?.include_usage !== true
    ? { stream_options: requestUsage(textOf('stream_options')) }
    : {}

/**
 * Returns the stream options of a client that does not request the usage, with it: the server counts and hides it. Usage
 * in each chunk is only valid with include_usage: without that, the client requested neither.
 */
export function requestUsage(options: string | undefined): string {
  const set = new Map([['include_usage', 'true']])
  const remove = new Set(['continuous_usage_stats'])
  return editMembers(options ?? '{}', { set, remove })
}

/** An empty list means none, and newer engines reject it. */
export const someTools: FieldEdit = ({ request }) =>
  request.tools?.length === 0 ? { tools: null } : {}

/** The engine takes only the older name; the newer one takes precedence if both are given. */
export const asMaxTokens: FieldEdit = ({ textOf }) => {
  const text = textOf('max_completion_tokens')
  return { max_completion_tokens: null, ...(text === undefined ? {} : { max_tokens: text }) }
}

/**
 * Spec: §4.3 continue_final_message.
 * Choice: this field alone turns the generation prompt off, since templates reject both together.
 */
export const closeTurn: FieldEdit = ({ request }) =>
  (request.add_generation_prompt ?? null) === null && request.continue_final_message === true
    ? { add_generation_prompt: 'false' }
    : {}

/** Continuing the last message implies it; otherwise the engine cannot omit the generation prompt. */
export const dropImpliedTurn: FieldEdit = ({ request }) => {
  if (request.add_generation_prompt === false && request.continue_final_message !== true) {
    throw unsupported('add_generation_prompt')
  }
  return { add_generation_prompt: null }
}

/** The engine can continue only a last message of the assistant; older versions always do. */
export const requireLastMessage: FieldEdit = ({ request }) => {
  const isContinued = request.continue_final_message === true
  if (isContinued && request.messages.at(-1)?.role !== 'assistant') {
    throw unsupported('continue_final_message')
  }
  return {}
}

/** The engine knows only the older role. */
export const developerAsSystem: FieldEdit = ({ textOf, request }) => {
  if (!request.messages.some(({ role }) => role === 'developer')) return {}
  const set = new Map([['role', '"system"']])
  const items = splitItems(textOf('messages') ?? '[]').map((item, index) =>
    request.messages[index]?.role === 'developer' ? editMembers(item, { set }) : item,
  )
  return { messages: `[${items.join(',')}]` }
}

/**
 * Spec: §4.3 tool_choice (default none).
 * Choice: engines read tools without a choice as auto, which is the default of models that call tools. For other
 * models they are sent the default of the interface.
 */
export const namedToolChoice: FieldEdit = ({ request, callsTools }) => {
  const isOpen = (request.tool_choice ?? null) === null && (request.tools ?? []).length > 0
  return isOpen && !callsTools ? { tool_choice: '"none"' } : {}
}

/** The engine ignores the choice and may call any tool that it is sent. */
export const ollamaToolChoice: FieldEdit = ({ request, callsTools }) => {
  const choice = request.tool_choice ?? (callsTools ? 'auto' : 'none')
  if (choice === 'none') return { tool_choice: null, tools: null }
  if (choice !== 'auto') throw unsupported('tool_choice')
  return { tool_choice: null }
}

/**
 * The engine shows the model all tools that it is sent, whatever the choice, and ignores the name in a choice.
 *
 * Spec: §4.3 tool_choice.
 * Choice: it is sent the tools that may be called, and none if none may be.
 */
export const llamaToolChoice: FieldEdit = ({ request, callsTools, textOf }) => {
  const choice = request.tool_choice ?? (callsTools ? 'auto' : 'none')
  if (choice === 'none') return { tool_choice: null, tools: null }
  if (typeof choice === 'string') return {}
  const name = choice.function?.name
  const texts = splitItems(textOf('tools') ?? '[]')
  const chosen = texts.filter((_text, at) => request.tools?.[at]?.function?.name === name)
  return { tool_choice: '"required"', tools: `[${chosen.join(',')}]` }
}

/**
 * The engine omits all log-probabilities for 0 alternatives, and sends 20 for an unset number.
 *
 * Spec: §4.3 top_logprobs (default 0).
 * Choice: it is asked for one alternative, the least that it can send.
 */
export const someTopLogprobs: FieldEdit = ({ request }) =>
  request.logprobs === true && (request.top_logprobs ?? 0) === 0 ? { top_logprobs: '1' } : {}

/** Allows only the formats of the OpenAI API. */
export const plainFormat: FieldEdit = ({ request }) => {
  if (request.response_format?.type === 'structural_tag') throw unsupported('response_format.type')
  return {}
}

/**
 * The constraint engine chosen by a client library is not meant for the upstream, and engines count
 * `json_object: false` as a second constraint.
 */
export const stripBackend: FieldEdit = ({ textOf, request }) => {
  const text = textOf('structured_outputs')
  if (text === undefined) return {}
  const remove = new Set(['_backend', '_backend_was_auto'])
  if (request.structured_outputs?.json_object === false) remove.add('json_object')
  return { structured_outputs: editMembers(text, { remove }) }
}

/** Members in which an engine takes constraints that `response_format` cannot express. */
interface ConstraintNames {
  /** Member for a regular expression. */
  readonly regex?: string
  /** Member for a grammar. */
  readonly grammar?: string
  /** Members for a list of answers. */
  readonly choice?: (choices: readonly string[]) => Readonly<Record<string, string>>
}

/**
 * Translates structured_outputs for an engine without that field: schemas become a `response_format`.
 *
 * Spec: §4.3 structured_outputs.
 */
export function toEngineConstraint(names: ConstraintNames): FieldEdit {
  return ({ textOf, request: { structured_outputs: constraint } }) => {
    const text = textOf('structured_outputs')
    if (text === undefined || !constraint) return { structured_outputs: null }
    const { regex, grammar, choice, json_object: anyObject } = constraint
    const isGone = { structured_outputs: null }
    if (constraint.json) return { ...isGone, response_format: renderFormat(text, constraint.json) }
    if (anyObject) return { ...isGone, response_format: '{"type":"json_object"}' }
    if (regex && names.regex) return { ...isGone, [names.regex]: JSON.stringify(regex) }
    if (grammar && names.grammar) return { ...isGone, [names.grammar]: JSON.stringify(grammar) }
    if (choice && names.choice) return { ...isGone, ...names.choice(choice) }
    const kind = STRUCTURED_OUTPUT_KINDS.find((name) => constraint[name])
    throw unsupported(kind === undefined ? 'structured_outputs' : `structured_outputs.${kind}`)
  }
}

/** Returns a schema, which is sent as an object or as its JSON text. */
function renderFormat(text: string, json: unknown): string {
  const schema = typeof json === 'string' ? json : (findMember(text, 'json') ?? '{}')
  try {
    JSON.parse(schema)
  } catch {
    throw new ApiError('invalid_value', {
      param: 'structured_outputs.json',
      message: 'structured_outputs.json must be valid JSON.',
    })
  }
  return `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":${schema}}}`
}

export function choiceRegex(choices: readonly string[]): Readonly<Record<string, string>> {
  const options = choices.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return { regex: JSON.stringify(`(${options.join('|')})`) }
}

export function choiceGrammar(choices: readonly string[]): Readonly<Record<string, string>> {
  const options = choices.map((text) =>
    // The grammar has the escapes of JSON, with two exceptions.
    JSON.stringify(text).replace(/\\(?:\\|[bf])/g, (code) => CONTROL_ESCAPES[code] ?? code),
  )
  return { grammar: JSON.stringify(`root ::= ${options.join(' | ')}`) }
}

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { '\\b': '\\x08', '\\f': '\\x0C' }

function unsupported(param: string): ApiError {
  const message = `The engine of the model does not support this value of ${param}.`
  return new ApiError('unsupported_parameter', { param, message })
}
