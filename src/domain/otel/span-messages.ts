/**
 * Converts messages of any dialect to chat messages: `role`, `content` (text, or parts for images), `tool_calls`,
 * `tool_call_id`. Pure. Unknown shapes are kept unchanged.
 */
import { isObject } from '../json/is-object.ts'
import { filledTextOrNull } from '../json/json-values.ts'
import type { Form } from './dialects/dialect.ts'
import { readKeyedPart } from './dialects/keyed-parts.ts'
import { readEncodedParts } from './encoded-parts.ts'
import { roleOf, roleOfEvent } from './message-roles.ts'
import { parseText } from './span-reader.ts'

type Json = Readonly<Record<string, unknown>>

export interface ChatMessage {
  role: string
  content: unknown
  name?: string
  reasoning_content?: string
  refusal?: string
  function_call?: unknown
  tool_calls?: ToolCall[]
  tool_call_id?: string
  finish_reason?: string
}

interface ToolCall {
  id: string | null
  type: 'function'
  function: { name: string; arguments: string }
}

/** Limit: messages of one span converted to chat messages; further ones are left unchanged. */
const MESSAGES_MAX = 2_000

/** One of them makes an object a message; what has none is the content of one. */
const MESSAGE_KEYS = ['role', 'content', 'parts', 'contents', 'tool_calls', 'finish_reason']

/**
 * @param value - messages, one message, texts or one text; JSON that is parsed
 * @param role - of what names none
 * @param form - `text`: no text in a list is a message; `flattened`: contents may be parts as JSON
 */
export function toMessages(value: unknown, role: string, form: Form): ChatMessage[] {
  if (isObject(value)) {
    // The whole request of the Vercel AI SDK, in which the system prompt is a separate field.
    const sent = Array.isArray(value.messages) ? value.messages : value.prompt
    const system = value.system ? toMessages(value.system, 'system', 'text') : []
    if (sent !== undefined) return [...system, ...toMessages(sent, role, 'text')]
  }
  const list = Array.isArray(value) ? value.slice(0, MESSAGES_MAX) : [value]
  return list.flatMap((item) => toMessage(form === 'text' ? item : parseMessage(item), role, form))
}

/** Attributes cannot be lists of objects: each message of a list may be JSON of its own. */
function parseMessage(item: unknown): unknown {
  const parsed = parseText(item)
  return isObject(parsed) && typeof parsed.role === 'string' ? parsed : item
}

function toMessage(item: unknown, role: string, form: Form): ChatMessage[] {
  if (!isObject(item)) return [{ role, content: item ?? null }]
  // Wrapped in OpenInference's way, and in that of events with a body.
  for (const wrapper of ['message', 'prompt', 'completion'] as const) {
    const inner = item[wrapper]
    if (!isObject(inner)) continue
    const [first, ...others] = toMessage(inner, role, 'json')
    return first ? [withFinish(first, item), ...others] : []
  }
  const named = roleOf(item.role) ?? roleOfEvent(item['event.name']) ?? role
  // Results of tools have the role of Anthropic's messages in OpenInference for JavaScript.
  const own = named === 'user' && filledTextOrNull(item.tool_call_id) ? 'tool' : named
  if (item.text !== undefined && item.content === undefined && item.role === undefined) {
    return [withFinish({ role: own, content: item.text }, item)]
  }
  if (!MESSAGE_KEYS.some((key) => item[key] !== undefined)) return [{ role: own, content: item }]
  const parts = partsOf(item, own, form)
  if (parts === null) return [withFinish(plainMessage(item, own), item)]
  return partMessages(parts, own, item)
}

/** The parts of a message in the semantic conventions, in OpenInference and in the Vercel AI SDK. */
function partsOf(item: Json, role: string, form: Form): Json[] | null {
  const list = parseText(item.parts ?? item.contents) ?? contentOf(item, role, form)
  if (!Array.isArray(list) || !list.every(isObject)) return null
  return list.map((part) => {
    // The content beside a call of OpenInference has nothing but its type.
    if (isObject(part.tool_call)) return { type: 'tool_call', ...part.tool_call }
    return isObject(part.message_content) ? part.message_content : readKeyedPart(part)
  })
}

/** A content that is a text stays one, unless its convention has no other way to write parts. */
function contentOf(item: Json, role: string, form: Form): unknown {
  if (form !== 'flattened') return item.content
  const callIds = new Set(toToolCalls(item.tool_calls).map(({ id }) => id))
  return readEncodedParts(item.content, { role, callIds })
}

function plainMessage(item: Json, role: string): ChatMessage {
  const message = namedMessage(item, role, item.content ?? null)
  const calls = toToolCalls(item.tool_calls)
  if (calls.length > 0) message.tool_calls = calls
  return message
}

function namedMessage(item: Json, role: string, content: unknown): ChatMessage {
  const message: ChatMessage = { role, content }
  if (typeof item.name === 'string') message.name = item.name
  const callId = item.tool_call_id ?? (role === 'tool' ? item.id : undefined)
  if (typeof callId === 'string') message.tool_call_id = callId
  for (const key of ['reasoning_content', 'refusal'] as const) {
    const text = item[key]
    if (typeof text === 'string' && text !== '') message[key] = text
  }
  const call = toFunctionCall(item)
  if (call !== null) message.function_call = call
  return message
}

/** The deprecated form of one call, also in the flattened spelling of OpenInference. */
function toFunctionCall(item: Json): unknown {
  const { function_call, function_call_name, function_call_arguments_json } = item
  if (typeof function_call_name !== 'string') return function_call || null
  return { name: function_call_name, arguments: textOrJson(function_call_arguments_json ?? '') }
}

/** Whether a message has more than a role. */
export function hasContent({ role, content, ...others }: ChatMessage): boolean {
  return content !== null || Object.keys(others).length > 0
}

/**
 * Some make a message of each item of a response (thoughts, text, tool calls), or an event with the reason of the end. Those
 * that follow each other become one answer, unless they end otherwise or both have what an answer has only once.
 */
export function joinItems(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    const both = last && joinTwo(last, message)
    if (both) joined[joined.length - 1] = both
    else joined.push(message)
  }
  return joined
}

function joinTwo(left: ChatMessage, right: ChatMessage): ChatMessage | null {
  const { content, tool_calls, role, finish_reason, ...fields } = right
  const isTwice = content !== null && left.content !== null
  const isOver = left.finish_reason !== undefined && left.finish_reason !== finish_reason
  const isApart = role !== 'assistant' || left.role !== role || isOver
  if (isTwice || isApart || Object.keys(fields).some((key) => key in left)) return null
  const calls = [...(left.tool_calls ?? []), ...(tool_calls ?? [])]
  return {
    ...left,
    ...fields,
    content: left.content ?? content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(finish_reason === undefined ? {} : { finish_reason }),
  }
}

/** A message whose parts are taken apart; results of tools become messages of their own, as chat has them. */
function partMessages(parts: readonly Json[], role: string, item: Json): ChatMessage[] {
  const contents: unknown[] = []
  const calls: ToolCall[] = toToolCalls(item.tool_calls)
  const callIds = new Set(calls.map(({ id }) => id))
  const results: ChatMessage[] = []
  let reasoning = ''
  let refusal = ''
  for (const part of parts) {
    const type = textOr(part.type ?? part.part_kind, '').replaceAll('-', '_')
    if (type === 'tool_call' || type === 'tool_use') {
      const call = toToolCall(part)
      // A message may name a call among its parts and beside them.
      if (call.id === null || !callIds.has(call.id)) calls.push(call)
      callIds.add(call.id)
    } else if (type === 'tool_call_response' || type === 'tool_result' || type === 'tool_return') {
      results.push(toToolMessage(part))
    } else if (type === 'reasoning' || type === 'thinking') {
      reasoning += textOfSummary(textOr(part.content ?? part.text ?? part.thinking, ''))
    } else if (type === 'refusal') refusal += textOr(part.content ?? part.refusal, '')
    else contents.push(toContent(part, type))
  }
  const message = namedMessage(item, role, joinContents(contents))
  if (reasoning !== '') message.reasoning_content = reasoning
  if (refusal !== '') message.refusal = refusal
  if (calls.length > 0) message.tool_calls = calls
  // Koog writes a tool's message without a result before a question.
  const isOfTool = results.length > 0 || (role === 'tool' && message.tool_call_id === undefined)
  const isOnlyResults = isOfTool && contents.length === 0 && calls.length === 0
  return isOnlyResults ? results : [withFinish(message, item), ...results]
}

/** The texts of a summary of reasoning that is JSON, as OpenLLMetry (0.62.4) writes that of Responses. */
function textOfSummary(text: string): string {
  const parts = text.startsWith('[{') ? parseText(text) : null
  const isSummary =
    Array.isArray(parts) &&
    parts.every((part) => isObject(part) && part.type === 'summary_text' && 'text' in part)
  return isSummary ? parts.map(({ text: own }) => own).join('\n') : text
}

function toContent(part: Json, type: string): unknown {
  if (/text$|_prompt$/.test(type) || type === '') {
    const text = part.text ?? part.content
    if (typeof text === 'string') return { type: 'text', text }
  }
  const url = part.uri ?? (isObject(part.image) ? imageUrl(part.image) : blobUrl(part, type))
  if (typeof url === 'string' && isImage(part)) return { type: 'image_url', image_url: { url } }
  return part
}

/** Bytes of the conventions, which are base64. */
function blobUrl({ mime_type, content }: Json, type: string): string | undefined {
  const isBlob = type === 'blob' && typeof mime_type === 'string' && typeof content === 'string'
  return isBlob ? `data:${mime_type};base64,${content}` : undefined
}

/** Whether nothing says that a part is audio, video or a document; the AI SDK calls a document an image by modality. */
function isImage({ modality, mime_type }: Json): boolean {
  return (modality ?? 'image') === 'image' && /^image\/|^$/.test(textOr(mime_type, ''))
}

function imageUrl(image: Json): unknown {
  return isObject(image.image) ? image.image.url : image.url
}

/** One text where all parts are texts; null for nothing. */
function joinContents(contents: readonly unknown[]): unknown {
  if (contents.length === 0) return null
  const texts = contents.map((part) => (isObject(part) && part.type === 'text' ? part.text : null))
  return texts.every((text) => typeof text === 'string') ? texts.join('') : contents
}

/** Reads tool calls in any spelling; skips everything else. */
export function toToolCalls(value: unknown): ToolCall[] {
  const parsed = parseText(value)
  if (!Array.isArray(parsed)) return []
  return parsed.map(parseText).filter(isObject).map(toToolCall)
}

function toToolCall(item: Json): ToolCall {
  const inner = isObject(item.tool_call) ? item.tool_call : item
  const called = isObject(inner.function) ? inner.function : inner
  const given = called.arguments ?? called.input ?? called.args ?? {}
  return {
    id: filledTextOrNull(inner.id ?? inner.toolCallId ?? inner.tool_call_id),
    type: 'function',
    function: {
      name: textOr(called.name ?? called.toolName ?? called.tool_name, ''),
      arguments: textOrJson(given),
    },
  }
}

/** What the Vercel AI SDK says of the `value` of an output; what else has a value may have more beside it. */
const OUTPUT_TYPES: ReadonlySet<unknown> = new Set([
  'text',
  'json',
  'error-text',
  'error-json',
  'content',
])

function toToolMessage(part: Json): ChatMessage {
  const given = part.response ?? part.result ?? part.output ?? part.content ?? null
  const isTyped = isObject(given) && OUTPUT_TYPES.has(given.type) && 'value' in given
  const output = isTyped ? given.value : given
  const content = textOrJson(output)
  const id = filledTextOrNull(part.id ?? part.toolCallId ?? part.tool_call_id ?? part.tool_use_id)
  return { role: 'tool', content, ...(id === null ? {} : { tool_call_id: id }) }
}

function withFinish(message: ChatMessage, item: Json): ChatMessage {
  const reason = item.finish_reason
  return typeof reason === 'string' && reason !== ''
    ? { ...message, finish_reason: reason }
    : message
}

function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function textOr(value: unknown, fallback: string): string {
  return filledTextOrNull(value) ?? fallback
}
