/** Finds chat messages in the inputs and outputs of calls, in any of the common shapes, and else their text. Pure. */
import { isExactNumber } from '../../api/exact-json.ts'

export interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_calls?: readonly ToolCall[] | null
  /** Id of the tool call that a message with the role `tool` answers. */
  readonly tool_call_id?: unknown
  /** The one call of older models. */
  readonly function_call?: ToolCall['function'] | null
  /** Text of a refusal. */
  readonly refusal?: string | null
  /** Audio of a spoken response. */
  readonly audio?: { readonly data?: unknown; readonly transcript?: unknown } | null
  /** Reasoning before the response. */
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
}

export interface ToolCall {
  readonly id?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown }
}

/** The messages of a request; empty if it has none. */
export function promptOf(inputs: unknown): readonly Message[] {
  const { messages, input, instructions, system } = fieldsOf(inputs)
  const found = [messages, input].map(asMessages).find(({ length }) => length > 0) ?? []
  const spoken =
    typeof input === 'string' && found.length === 0 ? [{ role: 'user', content: input }] : found
  const [first = null] = [instructions, system].filter(Boolean)
  if (first === null || spoken.length === 0) return spoken
  return [{ role: 'system', content: first }, ...spoken]
}

/** Returns the messages of a response: of choices, of the items of a response, or the value itself. */
export function responseMessagesOf(output: unknown): readonly Message[] {
  const { choices, output: items } = fieldsOf(output)
  if (Array.isArray(choices)) return asMessages(choices.map((choice) => choice?.message))
  if (Array.isArray(items)) return asMessages(items)
  return asMessages(Array.isArray(output) ? output : [output])
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The messages; an empty list when none of the values is a message, or one is neither that nor a typed item beside them. */
function asMessages(values: unknown): readonly Message[] {
  if (!Array.isArray(values)) return []
  const known = values.map(asMessage)
  if (known.every((message) => message === null)) return []
  const messages = known.map((message, at) => message ?? asOther(values[at]))
  return messages.every((message) => message !== null) ? messages : []
}

/** Returns an item without text, such as a search of the server, as a message. */
function asOther(value: unknown): Message | null {
  const { type } = fieldsOf(value)
  return typeof type === 'string' ? { role: type, content: value } : null
}

function asMessage(value: unknown): Message | null {
  const fields = fieldsOf(value)
  if (typeof fields.role === 'string') return withContent(fields)
  // Items of the Responses API without a role.
  if (fields.type === 'function_call') {
    const called = { function: { name: textOrNone(fields.name), arguments: fields.arguments } }
    return { role: 'assistant', content: null, tool_calls: [{ id: fields.call_id, ...called }] }
  }
  if (fields.type === 'function_call_output')
    return { role: 'tool', content: fields.output, tool_call_id: fields.call_id }
  if (fields.type === 'reasoning') return { role: 'reasoning', content: fields.summary }
  return null
}

/** UI messages of the Vercel AI SDK and messages of OpenTelemetry have parts in place of a content. */
function withContent(fields: Readonly<Record<string, unknown>>): Message {
  const { parts, ...message } = fields
  if (message.content !== undefined || !Array.isArray(parts)) return fields as unknown as Message
  return { ...message, content: parts.map(asContentPart) } as unknown as Message
}

function asContentPart(part: unknown): unknown {
  const { type, content } = fieldsOf(part)
  return type === 'text' && typeof content === 'string' ? { type, text: content } : part
}

/** Returns the name of a called tool; what stands in its place may be anything. */
export function nameOf(call: ToolCall | null): string {
  const { name } = fieldsOf(call?.function)
  return typeof name === 'string' ? name : 'a tool'
}

function textOrNone(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The tools that a message calls, also in the older form. */
export function callsOf({ tool_calls, function_call }: Partial<Message>): readonly ToolCall[] {
  if (Array.isArray(tool_calls)) return tool_calls
  return typeof function_call === 'object' && function_call !== null
    ? [{ function: function_call }]
    : []
}

/**
 * Returns the messages that answer tool calls of other messages, by the id of the call; each id counts once, for the
 * first call and the first message.
 */
export function toolResultsOf(messages: readonly Message[]): ReadonlyMap<unknown, Message> {
  const called = new Set(messages.flatMap((message) => callsOf(message).map((call) => call?.id)))
  const results = new Map<unknown, Message>()
  for (const message of messages) {
    const { role, tool_call_id: id } = message
    if (role === 'tool' && typeof id === 'string' && called.has(id) && !results.has(id))
      results.set(id, message)
  }
  return results
}

/** Returns the texts other than the content: a refusal, and the transcript of a spoken response. */
export function extraTexts({ refusal, audio }: Partial<Message>): readonly string[] {
  return [refusal, fieldsOf(audio).transcript].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
}

/** The last message in one line: its text or its tool calls; null when it has neither. */
export function lastMessageText(messages: readonly Message[]): string | null {
  const last: Partial<Message> = messages.at(-1) ?? {}
  const parts = Array.isArray(last.content) ? last.content : [last.content]
  const texts = parts.map((part) => (typeof part === 'string' ? part : fieldsOf(part).text))
  const said = [...texts, ...extraTexts(last)]
    .filter((text) => typeof text === 'string' && text !== '')
    .join(' ')
  if (said !== '') return said
  const calls = callsOf(last).map((call) => nameOf(call))
  return calls.length === 0 ? null : `→ ${calls.join(', ')}`
}

/** Returns the last turn: the messages after the last response. */
export function newestOf(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages.slice(last + 1).filter(({ role }) => role !== 'system' && role !== 'developer')
}

/** Common names of inputs and outputs with text, the most likely first. */
const TEXT_NAMES = [
  ...['question', 'query', 'prompt', 'message', 'input', 'user_input'],
  ...['answer', 'response', 'output', 'reply', 'content', 'text'],
]

/** The text of a value without messages that has only one, or one under a common name; any other value as it is. */
export function onlyTextOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value
  const texts = Object.entries(value).filter(([, member]) => typeof member === 'string')
  const named = TEXT_NAMES.flatMap((name) => texts.filter(([other]) => other === name))
  const [only] = texts.length === 1 ? texts : named
  return only === undefined ? value : only[1]
}
