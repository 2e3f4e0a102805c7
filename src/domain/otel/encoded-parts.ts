/**
 * Tells lists of content parts that were written as JSON into a text, because attributes cannot be lists of objects,
 * from texts that read like JSON. Pure.
 */
import { isObject } from '../json/is-object.ts'
import { parseText } from './span-reader.ts'

type Json = Readonly<Record<string, unknown>>

/** What is known of a message beside its content. */
interface Beside {
  readonly role: string
  /** Ids of the tool calls that the message names elsewhere. */
  readonly callIds: ReadonlySet<unknown>
}

/** Keys of each type of part, beside those of any. */
const KEYS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text', 'annotations', 'citations']],
  ['input_text', ['text']],
  ['output_text', ['text', 'annotations', 'logprobs']],
  ['image_url', ['image_url']],
  ['input_image', ['image_url', 'file_id', 'detail']],
  [
    'image',
    ['source', 'image', 'source_type', 'url', 'data', 'mime_type', 'mimeType', 'mediaType'],
  ],
  ['input_audio', ['input_audio']],
  ['file', ['file', 'source_type', 'data', 'mime_type', 'mimeType', 'mediaType', 'filename']],
  ['input_file', ['file_id', 'file_data', 'file_url', 'filename']],
  ['document', ['source', 'title', 'context', 'citations']],
  ['thinking', ['thinking', 'signature']],
  ['tool_use', ['id', 'name', 'input', 'caller']],
  ['tool_result', ['tool_use_id', 'content', 'is_error']],
  ['tool-result', ['toolCallId', 'toolName', 'result', 'output', 'isError']],
])
const KEYS_OF_ANY = ['type', 'id', 'index', 'cache_control', 'providerOptions', 'providerMetadata']
const TEXT_KEYS = ['text', 'thinking']

/**
 * The parts in a text, or the content as it is.
 *
 * Spec: none, an addition. Choice: a text is a list of parts if each item has a type that is known and no key but those
 * of its type. A model does not answer with results of tools, and no text becomes a tool call: a part may repeat one
 * that the message names.
 */
export function readEncodedParts(content: unknown, beside: Beside): unknown {
  if (typeof content !== 'string') return content
  const parsed = parseText(content)
  const isParts =
    Array.isArray(parsed) &&
    parsed.length > 0 &&
    parsed.every((item) => isObject(item) && isPart(item, beside))
  return isParts ? parsed : content
}

function isPart(part: Json, { role, callIds }: Beside): boolean {
  const own = KEYS.get(part.type)
  if (own === undefined) return false
  if (part.type === 'tool_use' && !callIds.has(part.id)) return false
  if (/^tool.result$/.test(String(part.type)) && role === 'assistant') return false
  const keys = Object.keys(part)
  return (
    own.some((key) => keys.includes(key)) &&
    keys.every((key) => own.includes(key) || KEYS_OF_ANY.includes(key)) &&
    TEXT_KEYS.every((key) => !own.includes(key) || typeof part[key] === 'string')
  )
}
