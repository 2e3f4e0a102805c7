/**
 * Converts a chat to a request in the format of Anthropic's Messages API. Pure. Error messages never repeat prompt text.
 */
import { refuse } from '../../../errors.ts'
import { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import { isObject } from '../../json/is-object.ts'
import { parseLossless, renderJson } from '../../json/json-text.ts'
import { objectOrEmpty } from '../../json/json-values.ts'
import { isSystem, joinTurns, toBlocks, toTurn } from './chat-turns.ts'
import { toEffort } from './messages-tables.ts'

type Fields = Readonly<Record<string, unknown>>

interface MessageOptions {
  /** Limit of tokens to send where the chat has none: the API requires one. */
  readonly maxTokens: number
  /** How the model takes an effort: as such, or as a budget of tokens. */
  readonly thinking: 'adaptive' | 'budget'
  /** Whether the model is served as one that calls tools. */
  readonly callsTools: boolean
}

/**
 * Fields of chats that only direct the service of OpenAI: nothing in an answer depends on them. Client libraries send
 * some with each request.
 */
const HINTS: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'store',
  'verbosity',
])

/** Tiers of service that both APIs name. */
const TIERS: readonly unknown[] = ['auto', 'standard_only']

/**
 * Returns the request without its model. Fields that chats do not have, such as `thinking` and `cache_control`, are
 * passed on.
 *
 * @param chat - checked; its long numbers are raw JSON
 * @throws ApiError unsupported_value, invalid_value, missing_required_parameter
 *
 * Spec: §4.3 (every field).
 * Choice: system messages at the beginning are the system prompt; later ones become texts of the user, since only some
 * models take them in their positions. Neighbours of one role are joined.
 */
function toMessageRequest(chat: Fields, options: MessageOptions): Fields {
  const messages = (chat.messages as Fields[]).map(objectOrEmpty)
  const first = messages.findIndex(({ role }) => !isSystem(role))
  const opening = first === -1 ? messages : messages.slice(0, first)
  const system = opening.flatMap(({ content }, at) => toBlocks(content, `messages[${at}].content`))
  const rest = messages.slice(opening.length)
  const max_tokens = chat.max_completion_tokens ?? chat.max_tokens ?? options.maxTokens
  return {
    ...listUnknown(chat),
    max_tokens,
    ...(system.length > 0 ? { system } : {}),
    messages: joinTurns(
      rest.map((message, at) => toTurn(message, `messages[${opening.length + at}]`)),
    ),
    ...copy(chat, ['temperature', 'top_p', 'top_k', 'stream']),
    ...toStops(chat.stop),
    ...(typeof chat.user === 'string' ? { metadata: { user_id: chat.user } } : {}),
    ...(options.callsTools ? toTools(chat) : {}),
    ...toThinking(chat, Number(max_tokens), options),
  }
}

function copy(chat: Fields, names: readonly string[]): Record<string, unknown> {
  const given = names.filter((name) => chat[name] !== undefined && chat[name] !== null)
  return Object.fromEntries(given.map((name) => [name, chat[name]]))
}

function listUnknown(chat: Fields): Record<string, unknown> {
  const entries = Object.entries(chat).filter(([name, value]) => {
    if (value === null || HINTS.has(name)) return false
    if (name === 'service_tier') return TIERS.includes(value)
    // That of chats is stored with the completion, and the API knows only this member.
    if (name === 'metadata') return isObject(value) && Object.keys(value).join() === 'user_id'
    return !Object.hasOwn(ChatCompletionRequest.shape, name)
  })
  return Object.fromEntries(entries)
}

function toStops(stop: unknown): Fields {
  const stop_sequences = typeof stop === 'string' ? [stop] : stop
  return Array.isArray(stop_sequences) && stop_sequences.length > 0 ? { stop_sequences } : {}
}

function toTools({ tools, tool_choice, parallel_tool_calls }: Fields): Fields {
  const list = Array.isArray(tools) ? tools.map(objectOrEmpty) : []
  if (list.length === 0) return {}
  const single = parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {}
  const choice =
    toToolChoice(tool_choice) ?? (parallel_tool_calls === false ? { type: 'auto' } : null)
  return {
    tools: list.map(toTool),
    ...(choice === null
      ? {}
      : { tool_choice: choice.type === 'none' ? choice : { ...choice, ...single } }),
  }
}

function toTool({ type: _type, function: called, ...more }: Fields): Fields {
  const { name, description, parameters, strict } = objectOrEmpty(called)
  return {
    name,
    ...(description ? { description } : {}),
    input_schema: parameters ?? { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' ? { strict } : {}),
    // Such as cache_control.
    ...more,
  }
}

function toToolChoice(choice: unknown): Fields | null {
  if (choice === 'required') return { type: 'any' }
  if (choice === 'auto' || choice === 'none') return { type: choice }
  const { name } = objectOrEmpty(objectOrEmpty(choice).function)
  return typeof name === 'string' ? { type: 'tool', name } : null
}

/** Shares of the limit of tokens that an effort may use for thinking, and the least budget of the API. */
const BUDGET_SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.5 }
const LARGE_SHARE = 0.8
const BUDGET_MIN = 1_024

function toThinking(chat: Fields, maxTokens: number, { thinking }: MessageOptions): Fields {
  const config = objectOrEmpty(chat.output_config)
  const format = toFormat(chat.response_format)
  const effort = chat.reasoning_effort
  const own = { ...config, ...(format === null ? {} : { format }) }
  const only = Object.keys(own).length > 0 ? { output_config: own } : {}
  if (typeof effort !== 'string') return only
  if (effort === 'none') return { ...only, thinking: { type: 'disabled' } }
  if (thinking === 'adaptive') {
    const output_config = { effort: toEffort(effort), ...own }
    return { output_config, thinking: chat.thinking ?? { type: 'adaptive' } }
  }
  // Why: the limit of the client stays the limit, since it bounds what the answer costs.
  const budget_tokens = Math.max(
    BUDGET_MIN,
    Math.floor(maxTokens * (BUDGET_SHARES[effort] ?? LARGE_SHARE)),
  )
  if (budget_tokens >= maxTokens) {
    refuse(
      'invalid_value',
      'reasoning_effort',
      `reasoning_effort needs max_completion_tokens above ${BUDGET_MIN}: thinking is a part of them.`,
    )
  }
  return { ...only, thinking: chat.thinking ?? { type: 'enabled', budget_tokens } }
}

function toFormat(format: unknown): Fields | null {
  const { type = 'text', json_schema } = objectOrEmpty(format)
  if (type === 'text') return null
  if (type === 'json_schema') return { type, schema: objectOrEmpty(json_schema).schema ?? {} }
  refuse(
    'unsupported_value',
    'response_format',
    'response_format must be text or json_schema: the model has no other.',
  )
}

/** Returns the JSON text of a request for a model. */
export function renderMessageRequest(
  chatJson: string,
  model: string,
  options: MessageOptions,
): string {
  return renderJson({ model, ...toMessageRequest(objectOrEmpty(parseLossless(chatJson)), options) })
}
