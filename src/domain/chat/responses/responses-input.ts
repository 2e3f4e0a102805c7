/** Converts the input items of a response to chat messages. Pure. Error messages never repeat prompt text. */
import { ApiError } from '../../../errors.ts'
import type { ChatMessage } from '../../../schemas/chat/chat-message.ts'
import type { InputItem, InputPart } from '../../../schemas/chat/responses/responses-input.ts'
import type { ResponseTools } from './responses-tools.ts'

/** Kinds of items that can be converted to messages. */
const ITEM_TYPES = ['message', 'function_call', 'function_call_output', 'reasoning'] as const

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number]

/** An item, and the path of it that a refusal names. */
export interface IndexedItem {
  readonly item: InputItem
  readonly place: string
}

/**
 * Converts items to messages of a chat, in their order: a message, the reasoning before it and the calls after it
 * are one message, as chats have it.
 *
 * @param tools - which name the called functions
 * @throws ApiError unsupported_value for items and parts that no chat has, missing_required_parameter
 */
export function toMessages(
  items: readonly IndexedItem[],
  { toChatName }: Pick<ResponseTools, 'toChatName'>,
): ChatMessage[] {
  const messages: ChatMessage[] = []
  let reasoning: string | null = null

  /** The assistant's current turn, or a new one. */
  function turnFor(isMessage: boolean): ChatMessage {
    const last = messages.at(-1)
    const isOpen = last?.role === 'assistant' && reasoning === null && !isMessage
    if (last !== undefined && isOpen) return last
    const message: ChatMessage = {
      role: 'assistant',
      content: null,
      ...(reasoning === null ? {} : { reasoning }),
    }
    reasoning = null
    messages.push(message)
    return message
  }

  function addMessage({ item, place }: IndexedItem): void {
    const { role } = item
    if (role === null || role === undefined) throw missing(`${place}.role`)
    const content = toContent(requireGiven(item.content, `${place}.content`), `${place}.content`)
    if (role === 'assistant') {
      turnFor(true).content = content
      return
    }
    reasoning = null
    messages.push({ role, content })
  }

  function addCall({ item, place }: IndexedItem): void {
    const called = requireGiven(item.name, `${place}.name`)
    const name = toChatName({ name: called, namespace: item.namespace })
    const id = requireGiven(item.call_id, `${place}.call_id`)
    const call = { id, type: 'function', function: { name, arguments: item.arguments ?? '' } }
    const turn = turnFor(false)
    turn.tool_calls = [...(turn.tool_calls ?? []), call]
  }

  function addOutput({ item, place }: IndexedItem): void {
    const tool_call_id = requireGiven(item.call_id, `${place}.call_id`)
    const param = `${place}.output`
    const output = requireGiven(item.output, param)
    if (typeof output !== 'string' && !Array.isArray(output)) {
      const message = `${param} must be a string or a list of parts.`
      throw new ApiError('unsupported_value', { param, message })
    }
    messages.push({ role: 'tool', tool_call_id, content: toContent(output, param) })
  }

  for (const placed of items) {
    const { item, place } = placed
    switch (item.type ?? 'message') {
      case 'message':
        addMessage(placed)
        break
      case 'function_call':
        addCall(placed)
        break
      case 'function_call_output':
        addOutput(placed)
        break
      case 'reasoning':
        reasoning = readReasoning(item)
        break
      default:
        throw new ApiError('unsupported_value', {
          param: `${place}.type`,
          message: `${place}.type must be one of ${ITEM_TYPES.join(', ')}, item_reference: other items are only for models whose engine makes responses itself.`,
        })
    }
  }
  return messages
}

/** The text of the reasoning, or its summary; null for what only its maker can read. */
function readReasoning({ content, summary }: InputItem): string | null {
  const parts = Array.isArray(content) && content.length > 0 ? content : (summary ?? [])
  const text = parts.map((part) => part.text ?? '').join('\n')
  return text === '' ? null : text
}

/** A single text stays a plain string, which every chat template can read. */
function toContent(content: string | InputPart[], place: string): string | Part[] {
  if (typeof content === 'string') return content
  const parts = content.map((part, index) => toPart(part, `${place}[${index}]`))
  const texts = parts.map((part) =>
    typeof part !== 'string' && part.type === 'text' ? (part.text ?? '') : null,
  )
  const [first] = texts
  return texts.length === 1 && typeof first === 'string' ? first : parts
}

const PART_TYPES = 'input_text, output_text, input_image, input_file, input_audio, refusal'

function toPart(part: InputPart, place: string): Part {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requireGiven(part.text, `${place}.text`) }
    case 'refusal':
      return { type: 'refusal', refusal: requireGiven(part.refusal, `${place}.refusal`) }
    case 'input_image':
      return toImage(part, place)
    case 'input_file':
      return toFile(part, place)
    case 'input_audio':
      return {
        type: 'input_audio',
        input_audio: requireGiven(part.input_audio, `${place}.input_audio`),
      }
    default:
      throw new ApiError('unsupported_value', {
        param: `${place}.type`,
        message: `${place}.type must be one of ${PART_TYPES}.`,
      })
  }
}

function toImage(part: InputPart, place: string): Part {
  requireNoFileId(part, place)
  const url = requireGiven(part.image_url, `${place}.image_url`)
  const { detail } = part
  return { type: 'image_url', image_url: { url, ...(detail ? { detail } : {}) } }
}

function toFile(part: InputPart, place: string): Part {
  requireNoFileId(part, place)
  if (part.file_url) {
    const message = 'Files are not fetched; send file_data.'
    throw new ApiError('unsupported_value', { param: `${place}.file_url`, message })
  }
  const file_data = requireGiven(part.file_data, `${place}.file_data`)
  const { filename } = part
  return { type: 'file', file: { file_data, ...(filename ? { filename } : {}) } }
}

function requireNoFileId(part: InputPart, place: string): void {
  if (!part.file_id) return
  const message = 'There are no uploaded files that a response could name; send the content.'
  throw new ApiError('unsupported_value', { param: `${place}.file_id`, message })
}

function requireGiven<T>(value: T | null | undefined, param: string): T {
  if (value === null || value === undefined) throw missing(param)
  return value
}

function missing(param: string): ApiError {
  return new ApiError('missing_required_parameter', { param, message: `${param} is required` })
}
