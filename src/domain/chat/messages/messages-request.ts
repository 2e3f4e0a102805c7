/**
 * Converts a request in the format of Anthropic's Messages API to a chat request. Pure. Every field is carried over,
 * refused by name, or a hint that changes nothing in the answer.
 */
import { ApiError, refuse } from '../../../errors.ts'
import { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import {
  MessageCreateRequest,
  type MessageTool,
} from '../../../schemas/chat/messages/messages-request.ts'
import { findUnknownFields } from '../chat-rules.ts'
import type { FunctionTool } from '../field-rules.ts'
import {
  type ChatDraft,
  carryOver,
  type FrontFieldUse,
  findRefusedFields,
  isNeutral,
} from '../front-fields.ts'
import { toChatMessages } from './messages-input.ts'
import { toReasoningEffort } from './messages-tables.ts'

/** Total over the fields, so that a new one does not compile until it is decided. */
const MESSAGE_FIELDS: Readonly<Record<keyof MessageCreateRequest, FrontFieldUse>> = {
  model: { as: 'model' },
  messages: 'translated',
  system: 'translated',
  max_tokens: { as: 'max_completion_tokens' },
  stream: 'translated',
  stop_sequences: { as: 'stop' },
  temperature: { as: 'temperature' },
  top_p: { as: 'top_p' },
  top_k: { as: 'top_k' },
  tools: 'translated',
  tool_choice: 'translated',
  thinking: 'translated',
  output_config: 'translated',
  output_format: 'translated',
  metadata: 'translated',
  // Why: they say how the vendor may save work, and agents send them with each request.
  cache_control: 'kept',
  context_management: 'kept',
  service_tier: 'kept',
  speed: { refusal: 'a model has one speed', allowed: 'standard' },
  mcp_servers: { refusal: 'no tools are run here' },
  container: { refusal: 'no tools are run here' },
  inference_geo: { refusal: 'where the model runs is decided by the models file' },
  thread: 'translated',
}

/** A chat made of a request, and what was left out of it. */
interface TranslatedMessages {
  readonly draft: ChatDraft
  /** Names of the fields and tools that were left out. */
  readonly dropped: readonly string[]
}

interface TranslationOptions {
  /** Whether what a chat does not have is left out; if not, it is refused. */
  readonly dropsUnsupported: boolean
}

/**
 * Converts a request.
 *
 * @throws ApiError unsupported_parameter, unsupported_value, missing_required_parameter
 *
 * Spec: §4 (messages are an addition).
 * Choice: a last message of the assistant is continued, as the vendor's older models do.
 */
export function toChatDraft(
  request: MessageCreateRequest,
  { dropsUnsupported }: TranslationOptions,
): TranslatedMessages {
  refuseThread(request)
  const refused = findRefusedFields(MESSAGE_FIELDS, request)
  const unknown = findUnknownMessageFields(request).map((param) => ({
    param,
    message: 'The field is neither one of messages nor one of chat completions.',
  }))
  const [first] = [...refused, ...unknown]
  if (first !== undefined && !dropsUnsupported) {
    refuse('unsupported_parameter', first.param, first.message)
  }
  const tools = toTools(request, dropsUnsupported)
  const input = toChatMessages(request, dropsUnsupported)
  const user = request.metadata?.user_id
  const draft = {
    ...listChatFields(request),
    ...carryOver(MESSAGE_FIELDS, request),
    messages: input.messages,
    ...(input.continuesLast ? { continue_final_message: true } : {}),
    ...tools.fields,
    ...toEffort(request),
    ...toFormat(request),
    ...(user ? { user } : {}),
    ...(request.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
  const dropped = [...refused, ...unknown].map(({ param }) => param)
  return { draft, dropped: [...new Set([...dropped, ...tools.dropped, ...input.dropped])] }
}

/** The fields that a chat has and messages do not, such as `seed`. */
function listChatFields(request: MessageCreateRequest): Record<string, unknown> {
  const entries = Object.entries(request).filter(
    ([name]) =>
      !Object.hasOwn(MessageCreateRequest.shape, name) &&
      Object.hasOwn(ChatCompletionRequest.shape, name),
  )
  return Object.fromEntries(entries)
}

const KNOWN_FIELDS = { ...ChatCompletionRequest.shape, ...MessageCreateRequest.shape }

function findUnknownMessageFields(request: MessageCreateRequest): readonly string[] {
  return findUnknownFields(request, KNOWN_FIELDS)
}

/**
 * Choice: a thread is refused also where others fields are dropped, since a message that continues one is not the whole
 * conversation. Clients then send it without.
 *
 * Spec: §4 (messages are an addition).
 * @throws ApiError thread_unsupported
 */
function refuseThread({ thread }: MessageCreateRequest): void {
  if (!isNeutral(thread)) throw new ApiError('thread_unsupported', { param: 'thread' })
}

function toTools(
  { tools, tool_choice: choice }: MessageCreateRequest,
  dropsOthers: boolean,
): { readonly fields: Record<string, unknown>; readonly dropped: readonly string[] } {
  const functions: FunctionTool[] = []
  const dropped: string[] = []
  for (const [index, tool] of (tools ?? []).entries()) {
    if ((tool.type ?? 'custom') === 'custom') functions.push(toFunction(tool, `tools[${index}]`))
    else if (dropsOthers) dropped.push(`tools.${nameTool(tool)}`)
    else refuseTool(tool, `tools[${index}]`)
  }
  const given = functions.length > 0 ? { tools: functions } : {}
  if (!choice) return { fields: given, dropped }
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}
  return { fields: { ...given, ...toToolChoice(choice, functions), ...parallel }, dropped }
}

type Choice = NonNullable<MessageCreateRequest['tool_choice']>

function toToolChoice({ type, name }: Choice, tools: readonly FunctionTool[]) {
  // It is the default where there are tools, and models that have none take no choice.
  if (type === 'auto') return {}
  if (type === 'none') return { tool_choice: 'none' }
  if (type === 'any') return { tool_choice: 'required' }
  if (!name)
    refuse('missing_required_parameter', 'tool_choice.name', 'tool_choice.name is required')
  const isKnown = tools.some((tool) => tool.function.name === name)
  if (!isKnown) {
    refuse('invalid_value', 'tool_choice.name', 'tool_choice.name must be the name of a tool.')
  }
  return { tool_choice: { type: 'function', function: { name } } }
}

const NO_INPUT = { type: 'object', properties: {} }

function toFunction(
  { name, description, input_schema, ...others }: MessageTool,
  path: string,
): FunctionTool {
  if (!name) refuse('missing_required_parameter', `${path}.name`, `${path}.name is required`)
  const parameters = input_schema && Object.keys(input_schema).length > 0 ? input_schema : NO_INPUT
  return {
    type: 'function',
    function: {
      name,
      ...(description ? { description } : {}),
      parameters,
      ...(typeof others.strict === 'boolean' ? { strict: others.strict } : {}),
    },
  }
}

function refuseTool(tool: MessageTool, path: string): never {
  const param = `${path}.type`
  const message = `${param} must be custom: ${nameTool(tool)} is only for models whose engine takes Messages itself.`
  refuse('unsupported_value', param, message)
}

/** Tools of the vendor with the dates of their versions; other text of a client is not repeated. */
const VENDOR_TOOLS = /^[a-z]+(?:_[a-z0-9]+){0,6}$/

function nameTool({ type }: MessageTool): string {
  return type && VENDOR_TOOLS.test(type) ? type : 'another tool'
}

function toEffort({ output_config, thinking }: MessageCreateRequest) {
  const effort = output_config?.effort
  if (effort) return { reasoning_effort: effort }
  const isBudget = thinking?.type === 'enabled' && typeof thinking.budget_tokens === 'number'
  return isBudget ? { reasoning_effort: toReasoningEffort(thinking.budget_tokens as number) } : {}
}

/** Spec: §4.3 response_format. Choice: strict, since a client of messages is promised the schema. */
function toFormat({ output_config, output_format }: MessageCreateRequest) {
  const format = output_config?.format ?? output_format
  if (!format) return {}
  const json_schema = { name: 'answer', schema: format.schema, strict: true }
  return { response_format: { type: 'json_schema', json_schema } }
}

/** Whether the client gets the thinking: whole, without its text, or not at all. */
export type ThinkingDisplay = 'shown' | 'omitted' | 'none'

/**
 * Spec: §4 (messages are an addition).
 * Choice: as with the vendor, a message has no thinking unless it was requested.
 */
export function resolveThinkingDisplay({ thinking }: MessageCreateRequest): ThinkingDisplay {
  if (!thinking || thinking.type === 'disabled') return 'none'
  return thinking.display === 'omitted' ? 'omitted' : 'shown'
}

/** Returns the field of a request for a message that corresponds to the path of a chat's field. */
export function toMessageParam(param: string): string {
  const [, head = '', rest = ''] = /^(\w+)(.*)$/s.exec(param) ?? []
  const known: Readonly<Record<string, string>> = {
    max_completion_tokens: 'max_tokens',
    stop: 'stop_sequences',
    reasoning_effort: 'output_config.effort',
    response_format: 'output_config.format',
    stream_options: 'stream',
    user: 'metadata.user_id',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
    continue_final_message: 'messages',
  }
  // Messages of a chat have other positions.
  if (head === 'messages') return head
  if (head === 'tools' || head === 'tool_choice') {
    return param.replace('.function.parameters', '.input_schema').replace('.function', '')
  }
  const name = known[head]
  if (name === undefined) return param
  return head === 'stop' ? `${name}${rest}` : name
}
