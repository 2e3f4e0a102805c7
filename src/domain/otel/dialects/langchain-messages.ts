/** Reads LangChain's messages: as its constructors, as dictionaries, in batches of one and among generations. Pure. */
import { isObject } from '../../json/is-object.ts'
import { filledTextOrNull } from '../../json/json-values.ts'

type Json = Readonly<Record<string, unknown>>

/** Roles by the type of a message, which its class spells with `Message` or `MessageChunk` behind it. */
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'tool',
}

/** The messages with their roles; any value that has others is returned as it is. */
export function readLangChain(value: unknown): unknown {
  const messages = listOf(value).map(toMessage)
  return messages.length > 0 && messages.every((message) => message !== null) ? messages : value
}

/** The items of a list, of `messages` or of `generations`, where each may be a batch. */
function listOf(value: unknown): unknown[] {
  const list = isObject(value) ? (value.messages ?? value.generations ?? [value]) : value
  return Array.isArray(list) ? list.flat() : []
}

function toMessage(item: unknown): Json | null {
  if (!isObject(item)) return null
  // Generations of JavaScript have their information only where there is some.
  if (isObject(item.message) && ('generation_info' in item || 'text' in item)) {
    const message = toMessage(item.message)
    const reason = isObject(item.generation_info) ? item.generation_info.finish_reason : undefined
    return message && { ...message, finish_reason: reason ?? message.finish_reason }
  }
  const fields = fieldsOf(item)
  const name =
    filledTextOrNull(fields.type) ?? (Array.isArray(item.id) ? String(item.id.at(-1)) : '')
  const type = name.replace(/Message(?:Chunk)?$/, '').toLowerCase()
  if (fields.role !== undefined || !Object.hasOwn(ROLES, type) || !('content' in fields))
    return null
  const { content, tool_calls, tool_call_id, name: from, response_metadata: metadata } = fields
  const calls = Array.isArray(tool_calls) && tool_calls.length > 0 ? tool_calls : undefined
  const extra = isObject(fields.additional_kwargs) ? fields.additional_kwargs : {}
  return {
    role: ROLES[type],
    content: content === '' && calls ? null : content,
    tool_calls: calls,
    tool_call_id,
    name: from ?? undefined,
    reasoning_content: extra.reasoning_content,
    finish_reason: isObject(metadata)
      ? (metadata.finish_reason ?? metadata.stop_reason)
      : undefined,
  }
}

/** What a message holds, out of the constructor or the dictionary around it. */
function fieldsOf(item: Json): Json {
  if (item.lc === 1 && isObject(item.kwargs)) return item.kwargs
  return isObject(item.data) && typeof item.type === 'string'
    ? { type: item.type, ...item.data }
    : item
}
