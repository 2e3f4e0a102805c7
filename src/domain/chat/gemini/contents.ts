/** Converts the contents of Google's Gemini API to messages of a chat. Pure. Error messages never repeat prompt text. */
import { refuse } from '../../../errors.ts'
import type { ChatMessage } from '../../../schemas/chat/chat-message.ts'
import type { GenerateContentRequest, Part } from '../../../schemas/chat/gemini/content-request.ts'
import { isObject } from '../../json/is-object.ts'
import { renderJson } from '../../json/json-text.ts'
import { filledTextOrNull, isGiven, objectOrEmpty, textOrEmpty } from '../../json/json-values.ts'
import { parseSignature } from './signature.ts'

type Fields = Readonly<Record<string, unknown>>
type ChatPart = Exclude<ChatMessage['content'], string | null | undefined>[number]
type ToolCall = NonNullable<ChatMessage['tool_calls']>[number]

interface ChatInput {
  readonly messages: ChatMessage[]
  /** Kinds of the parts that were left out. */
  readonly dropped: readonly string[]
}

/** Members of a part that only say how it is read. */
const HINTS = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
])
const KIND = /^[a-zA-Z]{1,40}$/

/**
 * Converts the input of a request.
 *
 * @param dropsOthers - whether parts that no chat has are left out; if not, they are refused
 * @throws ApiError unsupported_value, invalid_value
 *
 * Spec: §4 (contents are an addition).
 * Choice: a result belongs to the call with its id, or without one to the earliest call of its function that has none.
 */
export function toChatMessages(
  { contents, systemInstruction }: Pick<GenerateContentRequest, 'contents' | 'systemInstruction'>,
  dropsOthers: boolean,
): ChatInput {
  const dropped = new Set<string>()
  const calls = createCallIds()

  function skip(part: Part, path: string): [] {
    const kind = Object.keys(part).find((name) => !HINTS.has(name) && isGiven(part[name]))
    if (kind === undefined) return []
    const name = KIND.test(kind) ? kind : 'part'
    if (!dropsOthers) {
      refuse('unsupported_value', `${path}.${name}`, `A chat has no parts such as \`${name}\`.`)
    }
    dropped.add(`parts.${name}`)
    return []
  }

  function toModelMessage(parts: readonly Part[], path: string): ChatMessage[] {
    const texts: string[] = []
    const thoughts: string[] = []
    const details: unknown[] = []
    const toolCalls: ToolCall[] = []
    for (const [index, part] of parts.entries()) {
      const { text, thought, functionCall, thoughtSignature } = part
      const { reasoning_details, extra_content } = parseSignature(thoughtSignature)
      details.push(...reasoning_details)
      if (isGiven(functionCall)) {
        const { name, args, id } = functionCall
        const called = { name, arguments: renderJson(args ?? {}) }
        const extra = extra_content === null ? {} : { extra_content }
        toolCalls.push({ id: calls.begin(name, id), type: 'function', function: called, ...extra })
      } else if (isGiven(text)) (thought === true ? thoughts : texts).push(text)
      else skip(part, `${path}[${index}]`)
    }
    if (texts.length + toolCalls.length === 0) return []
    const reasoning = thoughts.length > 0 ? { reasoning: thoughts.join('') } : {}
    return [
      {
        role: 'assistant',
        content: texts.length > 0 ? texts.join('') : null,
        ...reasoning,
        ...(details.length > 0 ? { reasoning_details: details } : {}),
        ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      },
    ]
  }

  function toUserMessages(parts: readonly Part[], path: string): ChatMessage[] {
    const results: ChatMessage[] = []
    const others: ChatPart[] = []
    for (const [index, part] of parts.entries()) {
      const { functionResponse } = part
      if (isGiven(functionResponse)) {
        const { name, id, response } = functionResponse
        const content = toResultText(objectOrEmpty(response))
        results.push({ role: 'tool', tool_call_id: calls.end(name, id), content })
        const files = Array.isArray(functionResponse.parts) ? functionResponse.parts : []
        for (const file of files.map(objectOrEmpty)) others.push(...(toFile(file as Part) ?? []))
      } else others.push(...(toUserPart(part) ?? skip(part, `${path}[${index}]`)))
    }
    if (others.length === 0 && results.length > 0) return results
    return [...results, { role: 'user', content: toContent(others) }]
  }

  const messages: ChatMessage[] = []
  const system = (systemInstruction?.parts ?? []).flatMap((part, index) =>
    isGiven(part.text)
      ? { type: 'text', text: part.text }
      : skip(part, `systemInstruction.parts[${index}]`),
  )
  if (system.length > 0) messages.push({ role: 'system', content: toContent(system) })
  for (const [index, { role, parts }] of contents.entries()) {
    const convert = role === 'model' ? toModelMessage : toUserMessages
    messages.push(...convert(parts ?? [], `contents[${index}].parts`))
  }
  return { messages, dropped: [...dropped] }
}

/** Gives ids to calls that have none, and finds them for their results. */
function createCallIds() {
  let count = 0
  const open: { readonly name: string; readonly id: string }[] = []
  const next = () => `call_${++count}`
  return {
    begin(name: string, given: unknown): string {
      const id = filledTextOrNull(given) ?? next()
      open.push({ name, id })
      return id
    },
    end(name: string, given: unknown): string {
      const sent = filledTextOrNull(given)
      const at = open.findIndex((call) => (sent === null ? call.name === name : call.id === sent))
      const [call] = at === -1 ? [] : open.splice(at, 1)
      return sent ?? call?.id ?? next()
    },
  }
}

/** A result is an object in this API and a text in a chat; clients wrap texts as `output` or `result`. */
function toResultText(response: Fields): string {
  const [[name, value] = [], ...more] = Object.entries(response)
  const isText = typeof value === 'string' && more.length === 0
  return isText && (name === 'output' || name === 'result') ? value : renderJson(response)
}

function toContent(parts: readonly ChatPart[]): ChatMessage['content'] {
  const [only, ...more] = parts
  if (only === undefined) return ''
  if (more.length > 0 || typeof only === 'string' || only.type !== 'text') return [...parts]
  return only.text ?? ''
}

function toUserPart(part: Part): ChatPart[] | null {
  return isGiven(part.text) ? [{ type: 'text', text: part.text }] : toFile(part)
}

/** Returns the part of a chat for a file; null for anything else, and for addresses of files that are no images. */
function toFile({ inlineData, fileData }: Part): ChatPart[] | null {
  const { mimeType, data, displayName } = objectOrEmpty(inlineData)
  const type = textOrEmpty(mimeType)
  if (isObject(inlineData) && typeof data === 'string' && type !== '') {
    const [kind, format] = type.split('/')
    // JSON of this API may have base64 in the alphabet for addresses.
    const bytes = data.replaceAll('-', '+').replaceAll('_', '/')
    if (kind === 'audio') return [{ type: 'input_audio', input_audio: { data: bytes, format } }]
    const url = `data:${type};base64,${bytes}`
    if (kind === 'image') return [{ type: 'image_url', image_url: { url } }]
    const filename = filledTextOrNull(displayName) ?? 'file'
    return [{ type: 'file', file: { filename, file_data: url } }]
  }
  const { mimeType: linkedType, fileUri } = objectOrEmpty(fileData)
  if (typeof fileUri !== 'string' || !textOrEmpty(linkedType).startsWith('image/')) return null
  return [{ type: 'image_url', image_url: { url: fileUri } }]
}
