/** Converts the messages of a chat to turns in the format of Anthropic's Messages API. Pure. */
import { refuse } from '../../../errors.ts'
import { isObject } from '../../json/is-object.ts'
import { parseLossless } from '../../json/json-text.ts'
import { objectOrEmpty, textOrEmpty } from '../../json/json-values.ts'
import { isContinuation } from '../continuation.ts'

type Fields = Readonly<Record<string, unknown>>
type Block = Record<string, unknown>

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: Block[]
}

/** Whether a role is one of instructions. */
export function isSystem(role: unknown): boolean {
  return role === 'system' || role === 'developer'
}

/** Joins neighbours of one role: the results of one turn belong into one message. */
export function joinTurns(turns: readonly (Turn | null)[]): Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    if (turn === null) continue
    const last = joined.at(-1)
    if (last?.role === turn.role) last.content.push(...turn.content)
    else joined.push({ role: turn.role, content: [...turn.content] })
  }
  return joined
}

/**
 * Returns null for a message without content.
 *
 * @param place - path of the message, for errors
 * @throws ApiError unsupported_value, invalid_value, missing_required_parameter
 */
export function toTurn(message: Fields, place: string): Turn | null {
  const { role, content } = message
  const user = (blocks: Block[]): Turn | null =>
    blocks.length === 0 ? null : { role: 'user', content: blocks }
  if (role === 'assistant') {
    const blocks = toAssistantBlocks(message, place)
    return blocks.length === 0 ? null : { role, content: blocks }
  }
  const blocks = toBlocks(content, `${place}.content`)
  if (role === 'tool') {
    const { tool_call_id: id } = message
    if (typeof id !== 'string') {
      refuse(
        'missing_required_parameter',
        `${place}.tool_call_id`,
        `${place}.tool_call_id is required`,
      )
    }
    return user([{ type: 'tool_result', tool_use_id: toToolId(id), content: blocks }])
  }
  if (role === 'user' || isSystem(role)) return user(blocks)
  refuse(
    'unsupported_value',
    `${place}.role`,
    `${place}.role must be system, developer, user, assistant or tool.`,
  )
}

function toAssistantBlocks(message: Fields, place: string): Block[] {
  const { content, refusal, tool_calls: calls, function_call: legacy } = message
  if (legacy) {
    refuse(
      'unsupported_value',
      `${place}.function_call`,
      `${place}.function_call is not supported: send tool_calls.`,
    )
  }
  const refused = typeof refusal === 'string' ? textBlocks(refusal) : []
  const list = Array.isArray(calls) ? calls.map(objectOrEmpty) : []
  return [
    ...listThoughts(message),
    ...toBlocks(content, `${place}.content`),
    ...refused,
    ...list.map((call, at) => toToolUse(call, `${place}.tool_calls[${at}]`)),
  ]
}

/** Thinking goes back to its maker only with its signature, which clients return in either of two lists. */
function listThoughts({ thinking_blocks: blocks, reasoning_details: details }: Fields): Block[] {
  if (Array.isArray(blocks)) return listForeign(blocks)
  if (!Array.isArray(details)) return []
  return listForeign(details).flatMap(({ type, text, signature, data }): Block[] => {
    if (type === 'reasoning.encrypted') return [{ type: 'redacted_thinking', data }]
    const isSigned = typeof signature === 'string' && signature !== ''
    return isSigned ? [{ type: 'thinking', thinking: textOrEmpty(text), signature }] : []
  })
}

/** Leaves out what a provider package of this server has sealed, such as before a fallback. */
function listForeign(list: readonly unknown[]): Block[] {
  return list
    .map(objectOrEmpty)
    .filter(({ signature, data }) => !isContinuation(signature) && !isContinuation(data))
}

function toToolUse({ id, function: called }: Fields, place: string): Block {
  const { name, arguments: text } = objectOrEmpty(called)
  const input = typeof text === 'string' && text.trim() !== '' ? tryParse(text) : (text ?? {})
  if (!isObject(input)) {
    const param = `${place}.function.arguments`
    refuse('invalid_value', param, `${param} must be the JSON text of an object.`)
  }
  if (typeof id !== 'string')
    refuse('missing_required_parameter', `${place}.id`, `${place}.id is required`)
  return { type: 'tool_use', id: toToolId(id), name, input: text === '' ? {} : input }
}

function tryParse(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return null
  }
}

/** The API takes these characters only, and the ids of some engines have others. */
function toToolId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/** Returns the blocks of a content. @throws as toTurn */
export function toBlocks(content: unknown, place: string): Block[] {
  if (typeof content === 'string') return textBlocks(content)
  if (!Array.isArray(content)) return []
  return content.flatMap((part, at) =>
    typeof part === 'string' ? textBlocks(part) : toBlock(objectOrEmpty(part), `${place}[${at}]`),
  )
}

/** The API refuses empty texts. */
function textBlocks(text: string): Block[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function toBlock(part: Fields, place: string): Block[] {
  const { type, cache_control } = part
  const marked = cache_control ? { cache_control } : {}
  switch (type) {
    case 'text':
      return textBlocks(textOrEmpty(part.text)).map((block) => ({ ...block, ...marked }))
    case 'refusal':
      return textBlocks(textOrEmpty(part.refusal))
    case 'image_url':
      return [{ type: 'image', source: toImageSource(part.image_url), ...marked }]
    case 'file':
      return [{ ...toDocument(part.file, place), ...marked }]
    case 'image':
    case 'document':
    case 'search_result':
      return [{ ...part }]
    default:
      refuse(
        'unsupported_value',
        `${place}.type`,
        `${place}.type must be text, image_url, file or refusal: the model takes no others.`,
      )
  }
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

function toImageSource(image: unknown): Block {
  const url = typeof image === 'string' ? image : textOrEmpty(objectOrEmpty(image).url)
  const [, media_type, data] = DATA_URL.exec(url) ?? []
  return media_type === undefined ? { type: 'url', url } : { type: 'base64', media_type, data }
}

function toDocument(file: unknown, place: string): Block {
  const { file_data, filename } = objectOrEmpty(file)
  const [, media_type, data] = DATA_URL.exec(textOrEmpty(file_data)) ?? []
  if (media_type === undefined) {
    const param = `${place}.file.file_data`
    refuse(
      'unsupported_value',
      param,
      `${param} must be a data URL: files are neither stored nor fetched.`,
    )
  }
  const title = typeof filename === 'string' ? { title: filename } : {}
  return { type: 'document', source: { type: 'base64', media_type, data }, ...title }
}
