/**
 * Converts the system prompt and the messages of Anthropic's Messages API to messages of a chat. Pure. Error messages
 * never repeat prompt text.
 */
import { ApiError } from '../../../errors.ts'
import type { ChatMessage } from '../../../schemas/chat/chat-message.ts'
import type {
  ContentBlock,
  InputMessage,
  MessageContent,
  MessageCreateRequest,
} from '../../../schemas/chat/messages/messages-request.ts'
import { isObject } from '../../json/is-object.ts'
import { renderJson } from '../../json/json-text.ts'
import { objectOrEmpty, textOrEmpty } from '../../json/json-values.ts'

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number]
type ToolCall = NonNullable<ChatMessage['tool_calls']>[number]

interface ChatInput {
  readonly messages: ChatMessage[]
  /** Whether the last message is one of the assistant that the model continues. */
  readonly continuesLast: boolean
  /** Kinds of the blocks that were left out. */
  readonly dropped: readonly string[]
}

/** Begins the first text of the system prompt of Claude Code, which differs between requests of one conversation. */
const BILLING_LINE = /^x-anthropic-billing-header:/

/**
 * Converts the input of a request.
 *
 * @param dropsOthers - whether blocks that no chat has are left out; if not, they are refused
 * @throws ApiError unsupported_value, missing_required_parameter
 *
 * Spec: §4 (messages are an addition).
 * Choice: a line that a client sends for the vendor's billing is left out, since it changes between requests and would
 * begin each prompt anew for a cache. Messages of the system stay in their positions.
 */
export function toChatMessages(
  { system, messages: input }: Pick<MessageCreateRequest, 'system' | 'messages'>,
  dropsOthers: boolean,
): ChatInput {
  const messages: ChatMessage[] = []
  const dropped = new Set<string>()
  const reader = { refuse: dropsOthers ? (type: string) => dropped.add(`content.${type}`) : null }

  const instructions = system ? readTexts(system, 'system', reader) : []
  const kept = instructions.filter((part, index) => index > 0 || !BILLING_LINE.test(textOf(part)))
  if (kept.length > 0) messages.push({ role: 'system', content: toContent(kept) })
  for (const [index, message] of input.entries()) {
    messages.push(...toMessages(message, `messages[${index}]`, reader))
  }
  const last = messages.at(-1)
  const continuesLast = last?.role === 'assistant' && (last.tool_calls ?? []).length === 0
  return { messages, continuesLast, dropped: [...dropped] }
}

interface BlockReader {
  /** Takes the kind of a block that is left out; null: such a block is refused. */
  readonly refuse: ((type: string) => void) | null
}

function toMessages(
  { role, content }: InputMessage,
  path: string,
  reader: BlockReader,
): ChatMessage[] {
  if (role === 'system') return [{ role, content: toContent(readTexts(content, path, reader)) }]
  return role === 'assistant'
    ? [toAssistantMessage(content, `${path}.content`, reader)]
    : toUserMessages(content, `${path}.content`, reader)
}

function readTexts(content: MessageContent, path: string, reader: BlockReader): Part[] {
  return listBlocks(content).flatMap((block, index) =>
    block.type === 'text' ? toTextPart(block) : refuseBlock(block, `${path}[${index}]`, reader),
  )
}

/** Results of tools are messages of their own in a chat, and have texts only: their images follow as a user message. */
function toUserMessages(content: MessageContent, path: string, reader: BlockReader): ChatMessage[] {
  const messages: ChatMessage[] = []
  let parts: Part[] = []
  let images: Part[] = []
  const flush = () => {
    if (parts.length > 0) messages.push({ role: 'user', content: toContent(parts) })
    parts = []
  }
  for (const [index, block] of listBlocks(content).entries()) {
    const place = `${path}[${index}]`
    if (block.type === 'tool_result') {
      flush()
      const result = toToolResult(block, place, reader)
      messages.push(result.message)
      images.push(...result.images)
    } else {
      parts.push(...images, ...toUserParts(block, place, reader))
      images = []
    }
  }
  parts.push(...images)
  if (parts.length > 0 || messages.length === 0) {
    messages.push({ role: 'user', content: toContent(parts) })
  }
  return messages
}

const IMAGE_FOLLOWS = 'The result is in the next message.'

function toToolResult(
  { tool_use_id, content, is_error }: ContentBlock,
  place: string,
  reader: BlockReader,
) {
  if (typeof tool_use_id !== 'string') throw missing(`${place}.tool_use_id`)
  const blocks = listBlocks((content ?? []) as MessageContent)
  const parts = blocks.flatMap((block, index) =>
    toUserParts(block, `${place}.content[${index}]`, reader),
  )
  const texts = parts.filter(isTextPart)
  const images = parts.filter((part) => !isTextPart(part))
  const isSilent = texts.length === 0 && images.length > 0
  const told = isSilent ? [{ type: 'text', text: IMAGE_FOLLOWS }] : texts
  // A chat has no field that says so.
  const said = is_error === true ? `Error: ${told.map(textOf).join('\n')}` : toContent(told)
  return { message: { role: 'tool', tool_call_id: tool_use_id, content: said }, images }
}

function toAssistantMessage(
  content: MessageContent,
  path: string,
  reader: BlockReader,
): ChatMessage {
  const parts: Part[] = []
  const calls: ToolCall[] = []
  const thoughts: string[] = []
  const details: object[] = []
  for (const [index, block] of listBlocks(content).entries()) {
    const place = `${path}[${index}]`
    if (block.type === 'text') parts.push(toTextPart(block))
    else if (block.type === 'tool_use') calls.push(toToolCall(block, place))
    else if (block.type === 'thinking') {
      thoughts.push(textOrEmpty(block.thinking))
      details.push(...toReasoningDetails(block))
    } else if (block.type === 'redacted_thinking') {
      details.push({ type: 'reasoning.encrypted', data: block.data })
    } else refuseBlock(block, place, reader)
  }
  const reasoning = thoughts.join('\n')
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : toContent(parts),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Only signed thinking can be given back to its maker. */
function toReasoningDetails({ thinking, signature }: ContentBlock): object[] {
  if (typeof signature !== 'string' || signature === '') return []
  return [{ type: 'reasoning.text', text: thinking, signature }]
}

function toToolCall({ id, name, input }: ContentBlock, place: string): ToolCall {
  if (typeof id !== 'string') throw missing(`${place}.id`)
  if (typeof name !== 'string' || name === '') throw missing(`${place}.name`)
  return { id, type: 'function', function: { name, arguments: renderJson(input ?? {}) } }
}

function toUserParts(block: ContentBlock, place: string, reader: BlockReader): Part[] {
  switch (block.type) {
    case 'text':
      return [toTextPart(block)]
    case 'image':
      return [toImage(block, place)]
    case 'document':
      return toDocument(block, place, reader)
    case 'search_result':
      return [{ type: 'text', text: renderSearchResult(block) }]
    case 'tool_reference':
      return [{ type: 'text', text: `The tool ${textOrEmpty(block.tool_name)} is available.` }]
    default:
      return refuseBlock(block, place, reader)
  }
}

function toImage({ source }: ContentBlock, place: string): Part {
  const { type, media_type, data, url } = objectOrEmpty(source)
  const path = `${place}.source`
  if (type === 'base64') {
    if (typeof data !== 'string') throw missing(`${path}.data`)
    if (typeof media_type !== 'string') throw missing(`${path}.media_type`)
    return { type: 'image_url', image_url: { url: `data:${media_type};base64,${data}` } }
  }
  if (type === 'url' && typeof url === 'string') return { type: 'image_url', image_url: { url } }
  throw unsupported(`${path}.type`, 'must be base64 or url: there are no uploaded files.')
}

function toDocument(
  { source, title, context }: ContentBlock,
  place: string,
  reader: BlockReader,
): Part[] {
  const { type, media_type, data, content } = objectOrEmpty(source)
  const heads = [title, context].filter((text) => typeof text === 'string' && text !== '')
  const head = heads.map((text) => ({ type: 'text', text: String(text) }))
  const path = `${place}.source`
  if (type === 'text' && typeof data === 'string') return [...head, { type: 'text', text: data }]
  if (type === 'content') {
    const blocks = listBlocks((content ?? []) as MessageContent)
    return [
      ...head,
      ...blocks.flatMap((block, index) => toUserParts(block, `${path}.content[${index}]`, reader)),
    ]
  }
  if (type === 'base64' && typeof data === 'string') {
    const file_data = `data:${textOrEmpty(media_type) || 'application/pdf'};base64,${data}`
    const filename = typeof title === 'string' && title !== '' ? title : 'document.pdf'
    return [{ type: 'file', file: { filename, file_data } }]
  }
  throw unsupported(`${path}.type`, 'must be base64, text or content: documents are not fetched.')
}

function renderSearchResult({ title, source, content }: ContentBlock): string {
  const texts = Array.isArray(content) ? content.map((block) => objectOrEmpty(block).text) : []
  return [title, source, ...texts].filter((text) => typeof text === 'string').join('\n')
}

function toTextPart({ text }: ContentBlock): Part {
  return { type: 'text', text: textOrEmpty(text) }
}

function isTextPart(part: Part): boolean {
  return isObject(part) && part.type === 'text'
}

function textOf(part: Part): string {
  return typeof part === 'string' ? part : textOrEmpty(part.text)
}

/** A single text stays a plain string, which every chat template can read. */
function toContent(parts: Part[]): string | Part[] {
  if (parts.length === 0) return ''
  const [first] = parts
  return parts.length === 1 && first !== undefined && isTextPart(first) ? textOf(first) : parts
}

function listBlocks(content: MessageContent): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

const BLOCK_TYPES =
  'text, image, document, search_result, tool_use, tool_result, thinking, redacted_thinking'
/** Blocks of the vendor's own tools; other text of a client is not repeated. */
const VENDOR_BLOCKS = /^[a-z]+(?:_[a-z]+){0,6}$/

function refuseBlock({ type }: ContentBlock, place: string, { refuse }: BlockReader): never[] {
  const name = VENDOR_BLOCKS.test(type) ? type : 'another block'
  if (refuse === null) {
    throw unsupported(
      `${place}.type`,
      `must be one of ${BLOCK_TYPES}, where a message of its role has them: ${name} is only for models whose engine takes Messages itself.`,
    )
  }
  refuse(name)
  return []
}

function unsupported(param: string, rule: string): ApiError {
  return new ApiError('unsupported_value', { param, message: `${param} ${rule}` })
}

function missing(param: string): ApiError {
  return new ApiError('missing_required_parameter', { param, message: `${param} is required` })
}
